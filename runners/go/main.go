// Go's standard library and golang.org/x/crypto, each function as a program in Go calls it.
package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/md5"
	"crypto/mlkem"
	"crypto/rand"
	"crypto/rc4"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"hash"
	"runtime"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/md4"
	"golang.org/x/crypto/ripemd160"
	"golang.org/x/sys/cpu"

	"perbyte"
)

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func ctr(key []byte) (func([]byte) (cipher.Stream, error), error) {
	block, err := aes.NewCipher(key)
	return func(nonce []byte) (cipher.Stream, error) { return cipher.NewCTR(block, nonce), nil }, err
}

func chacha(key []byte) (func([]byte) (cipher.Stream, error), error) {
	return func(nonce []byte) (cipher.Stream, error) { return chacha20.NewUnauthenticatedCipher(key, nonce) }, nil
}

func arc4(key []byte) (func([]byte) (cipher.Stream, error), error) {
	return func([]byte) (cipher.Stream, error) { return rc4.NewCipher(key) }, nil
}

func keyed(with func() hash.Hash) func(key []byte) (hash.Hash, error) {
	return func(key []byte) (hash.Hash, error) { return hmac.New(with, key), nil }
}

// ready is for hashes without a function that does it in one call: New, Write, Sum.
func ready(algorithm string, output int, calls string, with func() hash.Hash) perbyte.Row {
	state := with()
	return perbyte.Hash(algorithm, output, calls+": Reset, Write, Sum", func(out, data []byte) {
		state.Reset()
		state.Write(data)
		state.Sum(out[:0])
	})
}

func edPair(seed []byte) (func([]byte) ([]byte, error), func([]byte, []byte) bool, error) {
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	return func(message []byte) ([]byte, error) { return ed25519.Sign(private, message), nil },
		func(message, signature []byte) bool { return ed25519.Verify(public, message, signature) }, nil
}

func agreement(curve ecdh.Curve) (func([]byte) ([]byte, error), func(own, peer []byte) (func() ([]byte, error), error)) {
	public := func(private []byte) ([]byte, error) {
		key, err := curve.NewPrivateKey(private)
		if err != nil {
			return nil, err
		}
		return key.PublicKey().Bytes(), nil
	}
	return public, func(own, peer []byte) (func() ([]byte, error), error) {
		private, err := curve.NewPrivateKey(own)
		if err != nil {
			return nil, err
		}
		other, err := curve.NewPublicKey(peer)
		if err != nil {
			return nil, err
		}
		return func() ([]byte, error) { return private.ECDH(other) }, nil
	}
}

// newPair works where it agrees with a pair of a fixed number, from both sides.
func newPair(algorithm string, curve ecdh.Curve, length int) perbyte.Row {
	return perbyte.NewPair(algorithm, 32, length, "ecdh.Curve.GenerateKey", func() (func([]byte) ([]byte, bool), error) {
		own, err := curve.GenerateKey(rand.Reader)
		return func([]byte) ([]byte, bool) {
			other, _ := curve.NewPrivateKey(bytes.Repeat([]byte{1}, 32))
			here, _ := own.ECDH(other.PublicKey())
			there, _ := other.ECDH(own.PublicKey())
			return own.PublicKey().Bytes(), len(here) != 0 && bytes.Equal(here, there)
		}, err
	})
}

func newKEM768() (func([]byte) ([]byte, bool), error) {
	own, err := mlkem.GenerateKey768()
	return func([]byte) ([]byte, bool) {
		secret, sent := own.EncapsulationKey().Encapsulate()
		again, _ := own.Decapsulate(sent)
		return own.EncapsulationKey().Bytes(), bytes.Equal(secret, again)
	}, err
}

func kem768(seed []byte) (func() ([]byte, []byte), func([]byte) ([]byte, error), error) {
	own, err := mlkem.NewDecapsulationKey768(seed)
	if err != nil {
		return nil, nil, err
	}
	return own.EncapsulationKey().Encapsulate, own.Decapsulate, nil
}

func kem1024(seed []byte) (func() ([]byte, []byte), func([]byte) ([]byte, error), error) {
	own, err := mlkem.NewDecapsulationKey1024(seed)
	if err != nil {
		return nil, nil, err
	}
	return own.EncapsulationKey().Encapsulate, own.Decapsulate, nil
}

// What golang.org/x/sys/cpu finds and GODEBUG leaves on; the standard library asks in the same way.
func features() string {
	found := []string{}
	for _, one := range []struct {
		name string
		has  bool
	}{
		{"AES", cpu.X86.HasAES}, {"PCLMULQDQ", cpu.X86.HasPCLMULQDQ}, {"SSSE3", cpu.X86.HasSSSE3},
		{"AVX2", cpu.X86.HasAVX2}, {"BMI2", cpu.X86.HasBMI2}, {"AES", cpu.ARM64.HasAES}, {"SHA2", cpu.ARM64.HasSHA2},
	} {
		if one.has {
			found = append(found, one.name)
		}
	}
	return strings.Join(found, " ")
}

func main() {
	x25519Public, x25519 := agreement(ecdh.X25519())
	p256Public, p256 := agreement(ecdh.P256())
	library := perbyte.Library{Name: "Go", License: "BSD-3-Clause", Version: strings.TrimPrefix(runtime.Version(), "go") +
		", x/crypto 0.58.0", Features: features()}
	rows := append(tlsRows(),
		perbyte.Hash("md5", 16, "md5.Sum", func(out, data []byte) { d := md5.Sum(data); copy(out, d[:]) }),
		perbyte.Hash("sha-1", 20, "sha1.Sum", func(out, data []byte) { d := sha1.Sum(data); copy(out, d[:]) }),
		perbyte.Hash("sha-224", 28, "sha256.Sum224", func(out, data []byte) { d := sha256.Sum224(data); copy(out, d[:]) }),
		perbyte.Hash("sha-256", 32, "sha256.Sum256", func(out, data []byte) { d := sha256.Sum256(data); copy(out, d[:]) }),
		perbyte.Hash("sha-384", 48, "sha512.Sum384", func(out, data []byte) { d := sha512.Sum384(data); copy(out, d[:]) }),
		perbyte.Hash("sha-512", 64, "sha512.Sum512", func(out, data []byte) { d := sha512.Sum512(data); copy(out, d[:]) }),
		perbyte.Hash("sha3-256", 32, "sha3.Sum256", func(out, data []byte) { d := sha3.Sum256(data); copy(out, d[:]) }),
		perbyte.Hash("sha3-512", 64, "sha3.Sum512", func(out, data []byte) { d := sha3.Sum512(data); copy(out, d[:]) }),
		perbyte.Hash("blake2b-256", 32, "blake2b.Sum256", func(out, data []byte) { d := blake2b.Sum256(data); copy(out, d[:]) }),
		perbyte.Hash("blake2b-512", 64, "blake2b.Sum512", func(out, data []byte) { d := blake2b.Sum512(data); copy(out, d[:]) }),
		perbyte.Hash("blake2s-256", 32, "blake2s.Sum256", func(out, data []byte) { d := blake2s.Sum256(data); copy(out, d[:]) }),
		ready("md4", 16, "md4.New", md4.New),
		ready("ripemd-160", 20, "ripemd160.New", ripemd160.New),
		perbyte.MAC("hmac-sha-1", 20, 20, "hmac.New (rekey), Reset, Write, Sum", keyed(sha1.New)),
		perbyte.MAC("hmac-sha-256", 32, 32, "hmac.New (rekey), Reset, Write, Sum", keyed(sha256.New)),
		perbyte.MAC("hmac-sha-512", 64, 64, "hmac.New (rekey), Reset, Write, Sum", keyed(sha512.New)),
		perbyte.Stream("aes-128-ctr", 16, 16, "aes.NewCipher (rekey), cipher.NewCTR, XORKeyStream", ctr),
		perbyte.Stream("aes-256-ctr", 32, 16, "aes.NewCipher (rekey), cipher.NewCTR, XORKeyStream", ctr),
		perbyte.Stream("chacha20", 32, 12, "chacha20.NewUnauthenticatedCipher, XORKeyStream", chacha),
		perbyte.Stream("rc4", 16, 0, "rc4.NewCipher, XORKeyStream", arc4),
		perbyte.AEAD("aes-128-gcm", 16, 12, 16, "aes.NewCipher, cipher.NewGCM (rekey), Seal, Open", gcm),
		perbyte.AEAD("aes-192-gcm", 24, 12, 16, "aes.NewCipher, cipher.NewGCM (rekey), Seal, Open", gcm),
		perbyte.AEAD("aes-256-gcm", 32, 12, 16, "aes.NewCipher, cipher.NewGCM (rekey), Seal, Open", gcm),
		perbyte.AEAD("chacha20-poly1305", 32, 12, 16, "chacha20poly1305.New (rekey), Seal, Open", chacha20poly1305.New),
		perbyte.AEAD("xchacha20-poly1305", 32, 24, 16, "chacha20poly1305.NewX (rekey), Seal, Open", chacha20poly1305.NewX),
		perbyte.Signature("ed25519", 32, 64, "ed25519.Sign, Verify", edPair),
		perbyte.Agreement("x25519", 32, 32, "ecdh.PrivateKey.ECDH", x25519Public, x25519),
		perbyte.Agreement("ecdh-p256", 32, 32, "ecdh.PrivateKey.ECDH", p256Public, p256),
		newPair("x25519", ecdh.X25519(), 32),
		newPair("ecdh-p256", ecdh.P256(), 65),
		perbyte.NewPair("ml-kem-768", 64, 1184, "mlkem.GenerateKey768", newKEM768),
		perbyte.KEM("ml-kem-768", 64, 1088, 32, "mlkem.EncapsulationKey768.Encapsulate, Decapsulate", kem768),
		perbyte.KEM("ml-kem-1024", 64, 1568, 32, "mlkem.EncapsulationKey1024.Encapsulate, Decapsulate", kem1024),
		ecdsaOn("ecdsa-p256", elliptic.P256(), 32),
		ecdsaOn("ecdsa-p384", elliptic.P384(), 48),
		ecdsaOn("ecdsa-p521", elliptic.P521(), 66),
		rsaSigned("rsa-2048", 256),
		rsaSigned("rsa-3072", 384),
		rsaSigned("rsa-4096", 512),
		rsaSigned("rsa-pss-2048", 256),
		rsaSigned("rsa-pss-3072", 384),
		rsaSigned("rsa-pss-4096", 512),
		perbyte.Random("random-bytes", "rand.Read", func(out []byte) { rand.Read(out) }),
		newRSA("rsa-2048", 2048),
		newRSA("rsa-3072", 3072),
		letter("hpke-x25519-aes-128-gcm", hpke.DHKEM(ecdh.X25519()), hpke.AES128GCM(), 32),
		letter("hpke-x25519-chacha20-poly1305", hpke.DHKEM(ecdh.X25519()), hpke.ChaCha20Poly1305(), 32),
		letter("hpke-p256-aes-128-gcm", hpke.DHKEM(ecdh.P256()), hpke.AES128GCM(), 65),
	)
	perbyte.Main(library, rows...)
}
