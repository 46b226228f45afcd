package main

// #include <stdlib.h>
// const char *pb_key_prime(const char *row, int second);
import "C"

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
	"unsafe"

	"perbyte"
)

// ecdsaOn is ECDSA as Go's documents have it: SignASN1, VerifyASN1. The fixed form is r, then s.
func ecdsaOn(algorithm string, curve elliptic.Curve, half int) perbyte.Row {
	type numbers struct{ R, S *big.Int }
	form := perbyte.Form{
		Fixed: func(signature []byte) []byte {
			var two numbers
			if rest, err := asn1.Unmarshal(signature, &two); err != nil || len(rest) > 0 || two.R.BitLen() > 8*half || two.S.BitLen() > 8*half {
				return nil
			}
			fixed := make([]byte, 2*half)
			two.R.FillBytes(fixed[:half])
			two.S.FillBytes(fixed[half:])
			return fixed
		},
		Own: func(fixed []byte) []byte {
			if len(fixed) != 2*half {
				return nil
			}
			der, _ := asn1.Marshal(numbers{new(big.Int).SetBytes(fixed[:half]), new(big.Int).SetBytes(fixed[half:])})
			return der
		},
	}
	return perbyte.SignedDigest(algorithm, half, 2*half, "ecdsa.SignASN1, VerifyASN1", form,
		func(number []byte) (func([]byte) ([]byte, error), func(digest, signature []byte) bool, error) {
			number = append([]byte{}, number...)
			if spare := 8*half - curve.Params().BitSize; spare > 0 {
				number[0] &= 0xff >> spare // of P-521 the last bit counts
			}
			private, err := ecdsa.ParseRawPrivateKey(curve, number)
			if err != nil {
				return nil, nil, err
			}
			return func(digest []byte) ([]byte, error) { return ecdsa.SignASN1(rand.Reader, private, digest) },
				func(digest, signature []byte) bool { return ecdsa.VerifyASN1(&private.PublicKey, digest, signature) }, nil
		})
}

var errNoKey = errors.New("no such key")

func prime(row string, second C.int) *big.Int {
	name := C.CString(row)
	defer C.free(unsafe.Pointer(name))
	number, _ := new(big.Int).SetString(C.GoString(C.pb_key_prime(name, second)), 16)
	return number
}

// fixedRSA is the key of the OpenSSL runner, which has the name of the row without a padding.
func fixedRSA(algorithm string) (*rsa.PrivateKey, error) {
	row := strings.Replace(algorithm, "-pss", "", 1)
	p, q := prime(row, 0), prime(row, 1)
	if p == nil || q == nil {
		return nil, errNoKey
	}
	one, e := big.NewInt(1), big.NewInt(65537)
	order := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537},
		D:         new(big.Int).ModInverse(e, order),
		Primes:    []*big.Int{p, q},
	}
	key.Precompute()
	return key, key.Validate()
}

// rsaSigned is RSA over a digest; without PSS the digest is padded as it is, without the name of its hash.
func rsaSigned(algorithm string, length int) perbyte.Row {
	pss := strings.Contains(algorithm, "pss")
	calls := "rsa.SignPKCS1v15, VerifyPKCS1v15"
	if pss {
		calls = "rsa.SignPSS, VerifyPSS"
	}
	options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
	return perbyte.SignedDigest(algorithm, length, length, calls, perbyte.AsIs,
		func([]byte) (func([]byte) ([]byte, error), func(digest, signature []byte) bool, error) {
			key, err := fixedRSA(algorithm)
			if err != nil {
				return nil, nil, err
			}
			public := &key.PublicKey
			if pss {
				return func(digest []byte) ([]byte, error) {
						return rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest, options)
					}, func(digest, signature []byte) bool {
						return rsa.VerifyPSS(public, crypto.SHA256, digest, signature, options) == nil
					}, nil
			}
			return func(digest []byte) ([]byte, error) { return rsa.SignPKCS1v15(rand.Reader, key, crypto.Hash(0), digest) },
				func(digest, signature []byte) bool {
					return rsa.VerifyPKCS1v15(public, crypto.Hash(0), digest, signature) == nil
				}, nil
		})
}
