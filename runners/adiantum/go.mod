module runner

go 1.26.0

require (
	golang.org/x/sys v0.49.0
	lukechampine.com/adiantum v1.1.1
	perbyte v0.0.0
)

require golang.org/x/crypto v0.23.0 // indirect

replace perbyte => ../sdk/go
