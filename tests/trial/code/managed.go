// Package mine has functions as a user has them: small letters, a main of its own.
package mine

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
)

func digest(data []byte) [32]byte { return sha256.Sum256(data) }

func digestInto(out, data []byte) {
	sum := sha256.Sum256(data)
	copy(out, sum[:])
}

func tag(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)
}

func ctr(key, nonce, message []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(message))
	cipher.NewCTR(block, nonce).XORKeyStream(out, message)
	return out
}

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	made, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return made
}

func seal(key, nonce, plaintext, aad []byte) []byte { return gcm(key).Seal(nil, nonce, plaintext, aad) }

func unseal(key, nonce, ciphertext, aad []byte) ([]byte, error) {
	return gcm(key).Open(nil, nonce, ciphertext, aad)
}
