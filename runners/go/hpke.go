package main

import (
	"crypto/hpke"
	"errors"

	"perbyte"
)

var errShort = errors.New("shorter than an encapsulated key")

// letter is HPKE with HKDF-SHA256; sent is the length of an encapsulated key.
func letter(algorithm string, kem hpke.KEM, cipher hpke.AEAD, sent int) perbyte.Row {
	return perbyte.Letter(algorithm, 32, 20, sent+16, "hpke.NewSender, Sender.Seal; hpke.NewRecipient, Recipient.Open",
		func(private []byte) (func(info, aad, data []byte) ([]byte, []byte, error), func(info, aad, letter []byte) ([]byte, error), error) {
			key, err := kem.NewPrivateKey(private)
			if err != nil {
				return nil, nil, err
			}
			public, kdf := key.PublicKey(), hpke.HKDFSHA256()
			return func(info, aad, data []byte) ([]byte, []byte, error) {
					encapsulated, sender, err := hpke.NewSender(public, kdf, cipher, info)
					if err != nil {
						return nil, nil, err
					}
					sealed, err := sender.Seal(aad, data)
					return encapsulated, sealed, err
				}, func(info, aad, letter []byte) ([]byte, error) {
					if len(letter) < sent {
						return nil, errShort
					}
					recipient, err := hpke.NewRecipient(letter[:sent], key, kdf, cipher, info)
					if err != nil {
						return nil, err
					}
					return recipient.Open(aad, letter[sent:])
				}, nil
		})
}
