package main

// #include "ends.h"
// #include <stdlib.h>
import "C"

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"unsafe"

	"perbyte"
)

var groups = map[string]tls.CurveID{"x25519": tls.X25519, "p256": tls.CurveP256, "x25519mlkem768": tls.X25519MLKEM768}

type end struct {
	*tls.Conn
	resumed bool
}

var errUnlike = errors.New("the connection is not what its row says")

func (e end) Secret(length int) ([]byte, error) {
	state := e.ConnectionState()
	if state.Version != tls.VersionTLS13 || state.DidResume != e.resumed || state.CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		return nil, errUnlike
	}
	return state.ExportKeyingMaterial("EXPORTER-perbyte", nil, length)
}

// Of a full handshake the ticket is kept, and never used; a resumed one always begins with the first.
type tickets struct {
	first   *tls.ClientSessionState
	resumed bool
}

func (t *tickets) Get(string) (*tls.ClientSessionState, bool) {
	return t.first, t.resumed && t.first != nil
}

func (t *tickets) Put(_ string, state *tls.ClientSessionState) {
	if t.first == nil || !t.resumed {
		t.first = state
	}
}

func certificate(name string) (root, leaf, key []byte) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	own := C.pb_certificate_of(text)
	return []byte(C.GoString(own.root)), []byte(C.GoString(own.leaf)), []byte(C.GoString(own.key))
}

// tlsEnds are those of a group, and of a certificate or "resumed".
func tlsEnds(group, of string) func() (func(net.Conn, bool) perbyte.Secure, error) {
	return func() (func(net.Conn, bool) perbyte.Secure, error) {
		resumed, shown := of == "resumed", of
		if resumed {
			shown = "ecdsa-p256"
		}
		root, leaf, key := certificate(shown)
		pair, err := tls.X509KeyPair(leaf, key)
		trusted := x509.NewCertPool()
		if err == nil && !trusted.AppendCertsFromPEM(root) {
			err = errUnlike
		}
		curves := []tls.CurveID{groups[group]}
		held, made := &tickets{resumed: resumed}, 0
		client := &tls.Config{ServerName: "localhost", RootCAs: trusted, MinVersion: tls.VersionTLS13,
			CurvePreferences: curves, ClientSessionCache: held}
		server := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13, CurvePreferences: curves}
		return func(over net.Conn, isClient bool) perbyte.Secure {
			made++ // the first two ends give the ticket
			begun := end{resumed: resumed && made > 2}
			if isClient {
				begun.Conn = tls.Client(over, client)
			} else {
				begun.Conn = tls.Server(over, server)
			}
			return begun
		}, err
	}
}

const tlsCalls = "tls.Client, tls.Server: Handshake, Read, Write"

// tlsRows are all that crypto/tls has. It chooses the cipher by itself: AES-128-GCM where there are AES instructions, and
// without them another one than the catalogue's.
func tlsRows() []perbyte.Row {
	rows := []perbyte.Row{}
	if !strings.Contains(features(), "AES") {
		return rows
	}
	for _, group := range strings.Fields("x25519 p256 x25519mlkem768") {
		for _, of := range strings.Fields("ecdsa-p256 rsa-2048 ed25519 resumed") {
			rows = append(rows, perbyte.Handshake("tls13-"+group+"-"+of, tlsCalls, tlsEnds(group, of)))
		}
	}
	return append(rows, perbyte.Records("tls13-aes-128-gcm", tlsCalls, tlsEnds("p256", "ecdsa-p256")))
}
