package main

import (
	"crypto/rand"
	"errors"

	"github.com/cloudflare/circl/hpke"

	"perbyte"
)

var errShort = errors.New("shorter than an encapsulated key")

// letter is HPKE with HKDF-SHA256; sent is the length of an encapsulated key.
func letter(algorithm string, kem hpke.KEM, cipher hpke.AEAD, sent int) perbyte.Row {
	return perbyte.Letter(algorithm, 32, 20, sent+16, "hpke.Suite.NewSender, Sender.Setup, Sealer.Seal; NewReceiver, Receiver.Setup, Opener.Open",
		func(private []byte) (func(info, aad, data []byte) ([]byte, []byte, error), func(info, aad, letter []byte) ([]byte, error), error) {
			suite := hpke.NewSuite(kem, hpke.KDF_HKDF_SHA256, cipher)
			key, err := kem.Scheme().UnmarshalBinaryPrivateKey(private)
			if err != nil {
				return nil, nil, err
			}
			public := key.Public()
			return func(info, aad, data []byte) ([]byte, []byte, error) {
					sender, err := suite.NewSender(public, info)
					if err != nil {
						return nil, nil, err
					}
					encapsulated, sealer, err := sender.Setup(rand.Reader)
					if err != nil {
						return nil, nil, err
					}
					sealed, err := sealer.Seal(data, aad)
					return encapsulated, sealed, err
				}, func(info, aad, letter []byte) ([]byte, error) {
					if len(letter) < sent {
						return nil, errShort
					}
					receiver, err := suite.NewReceiver(key, info)
					if err != nil {
						return nil, err
					}
					opener, err := receiver.Setup(letter[:sent])
					if err != nil {
						return nil, err
					}
					return opener.Open(letter[sent:], aad)
				}, nil
		})
}
