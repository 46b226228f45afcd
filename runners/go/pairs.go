package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"

	"perbyte"
)

// newRSA is for new pairs of RSA; the standard library always takes the exponent 65537.
func newRSA(algorithm string, bits int) perbyte.Row {
	return perbyte.Pairs(algorithm, bits/8, "rsa.GenerateKey", func() (func([]byte) ([]byte, bool), error) {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			return nil, err
		}
		return func(message []byte) ([]byte, bool) {
			signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.Hash(0), message)
			works := err == nil && rsa.VerifyPKCS1v15(&key.PublicKey, crypto.Hash(0), message, signature) == nil
			return key.N.Bytes(), works && key.E == 65537 && key.N.BitLen() == bits
		}, nil
	})
}
