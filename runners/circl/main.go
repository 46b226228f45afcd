// Cloudflare's circl, each function as a program in Go calls it.
package main

import (
	"errors"

	"github.com/cloudflare/circl/dh/x25519"
	"github.com/cloudflare/circl/dh/x448"
	"github.com/cloudflare/circl/hpke"
	"github.com/cloudflare/circl/kem"
	"github.com/cloudflare/circl/kem/hybrid"
	"github.com/cloudflare/circl/kem/mlkem/mlkem1024"
	"github.com/cloudflare/circl/kem/mlkem/mlkem512"
	"github.com/cloudflare/circl/kem/mlkem/mlkem768"
	"github.com/cloudflare/circl/sign"
	"github.com/cloudflare/circl/sign/ed25519"
	"github.com/cloudflare/circl/sign/ed448"
	"github.com/cloudflare/circl/sign/mldsa/mldsa44"
	"github.com/cloudflare/circl/sign/mldsa/mldsa65"
	"github.com/cloudflare/circl/sign/mldsa/mldsa87"
	"golang.org/x/sys/cpu"

	"perbyte"
)

var errLowOrder = errors.New("a point of low order")

// curve is for the two key agreements, whose keys are arrays of their own lengths.
func curve[Key any](of func([]byte) Key, bytes func(*Key) []byte, public func(public, secret *Key), shared func(shared, secret, public *Key) bool) (
	func([]byte) ([]byte, error), func(own, peer []byte) (func() ([]byte, error), error)) {
	return func(private []byte) ([]byte, error) {
			var made Key
			secret := of(private)
			public(&made, &secret)
			return bytes(&made), nil
		}, func(own, peer []byte) (func() ([]byte, error), error) {
			var made Key
			secret, other := of(own), of(peer)
			return func() ([]byte, error) {
				if !shared(&made, &secret, &other) {
					return nil, errLowOrder
				}
				return bytes(&made), nil
			}, nil
		}
}

// signature is for schemes of package sign, which all have one interface.
func signature(algorithm string, scheme sign.Scheme) perbyte.Row {
	return perbyte.Signature(algorithm, scheme.SeedSize(), scheme.SignatureSize(), "sign.Scheme.Sign, Verify",
		func(seed []byte) (func([]byte) ([]byte, error), func([]byte, []byte) bool, error) {
			public, private := scheme.DeriveKey(seed)
			return func(message []byte) ([]byte, error) { return scheme.Sign(private, message, nil), nil },
				func(message, given []byte) bool { return scheme.Verify(public, message, given, nil) }, nil
		})
}

// key is for schemes of package kem; a seed of no length stands for a key pair of the runner's own.
func key(algorithm string, seed int, scheme kem.Scheme) perbyte.Row {
	return perbyte.KEM(algorithm, seed, scheme.CiphertextSize(), scheme.SharedKeySize(), "kem.Scheme.Encapsulate, Decapsulate",
		func(seed []byte) (func() ([]byte, []byte), func([]byte) ([]byte, error), error) {
			if len(seed) == 0 {
				seed = make([]byte, scheme.SeedSize())
			}
			public, private := scheme.DeriveKeyPair(seed)
			return func() ([]byte, []byte) {
					sent, secret, err := scheme.Encapsulate(public)
					if err != nil {
						panic(err)
					}
					return secret, sent
				},
				func(sent []byte) ([]byte, error) { return scheme.Decapsulate(private, sent) }, nil
		})
}

// What golang.org/x/sys/cpu finds, which circl asks.
func features() string {
	if cpu.X86.HasAVX2 && cpu.X86.HasBMI2 && cpu.X86.HasADX {
		return "AVX2 BMI2 ADX"
	}
	if cpu.X86.HasAVX2 {
		return "AVX2"
	}
	return ""
}

func main() {
	x25519Public, x25519Derive := curve(func(b []byte) x25519.Key { return x25519.Key(b) },
		func(k *x25519.Key) []byte { return k[:] }, x25519.KeyGen, x25519.Shared)
	x448Public, x448Derive := curve(func(b []byte) x448.Key { return x448.Key(b) },
		func(k *x448.Key) []byte { return k[:] }, x448.KeyGen, x448.Shared)
	perbyte.Main(
		perbyte.Library{Name: "circl", License: "BSD-3-Clause", Version: "1.6.5", Features: features()},
		perbyte.Agreement("x25519", x25519.Size, x25519.Size, "x25519.Shared", x25519Public, x25519Derive),
		perbyte.Agreement("x448", x448.Size, x448.Size, "x448.Shared", x448Public, x448Derive),
		signature("ed25519", ed25519.Scheme()),
		signature("ed448", ed448.Scheme()),
		signature("ml-dsa-44", mldsa44.Scheme()),
		signature("ml-dsa-65", mldsa65.Scheme()),
		signature("ml-dsa-87", mldsa87.Scheme()),
		key("ml-kem-512", mlkem512.Scheme().SeedSize(), mlkem512.Scheme()),
		key("ml-kem-768", mlkem768.Scheme().SeedSize(), mlkem768.Scheme()),
		key("ml-kem-1024", mlkem1024.Scheme().SeedSize(), mlkem1024.Scheme()),
		key("x25519mlkem768", 0, hybrid.X25519MLKEM768()),
		letter("hpke-x25519-aes-128-gcm", hpke.KEM_X25519_HKDF_SHA256, hpke.AEAD_AES128GCM, 32),
		letter("hpke-x25519-chacha20-poly1305", hpke.KEM_X25519_HKDF_SHA256, hpke.AEAD_ChaCha20Poly1305, 32),
		letter("hpke-p256-aes-128-gcm", hpke.KEM_P256_HKDF_SHA256, hpke.AEAD_AES128GCM, 65),
	)
}
