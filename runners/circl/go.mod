module runner

go 1.26.0

require (
	github.com/cloudflare/circl v1.6.5
	golang.org/x/sys v0.49.0
	perbyte v0.0.0
)

require golang.org/x/crypto v0.54.0 // indirect

replace perbyte => ../sdk/go
