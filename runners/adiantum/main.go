// Adiantum of lukechampine.com/adiantum, as a program in Go calls it.
package main

import (
	"runtime/debug"

	"golang.org/x/sys/cpu"
	"lukechampine.com/adiantum"

	"perbyte"
)

func version() string {
	if info, found := debug.ReadBuildInfo(); found {
		for _, one := range info.Deps {
			if one.Path == "lukechampine.com/adiantum" {
				return one.Version
			}
		}
	}
	return "unknown"
}

func features() string {
	found := ""
	if cpu.X86.HasAVX2 {
		found = "AVX2 "
	}
	if cpu.X86.HasAES {
		found += "AES"
	}
	return found
}

func main() {
	keyed := func(key []byte) (encrypt, decrypt func(block, tweak []byte)) {
		cipher := adiantum.New(key)
		return func(block, tweak []byte) { cipher.Encrypt(block, tweak) },
			func(block, tweak []byte) { cipher.Decrypt(block, tweak) }
	}
	perbyte.Main(perbyte.Library{Name: "adiantum (Go)", License: "MIT", Version: version(), Features: features()},
		perbyte.Wide("adiantum-xchacha12", 32, 32, "hbsh.HBSH.Encrypt, Decrypt", keyed))
}
