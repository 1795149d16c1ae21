package fakeupstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// authority is a certificate authority for one run. Its key is never written to disk; the inner half gets it over the link.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	draft, err := draftOf("candor probe, for one run")
	if err != nil {
		return nil, err
	}
	draft.IsCA, draft.BasicConstraintsValid, draft.MaxPathLenZero = true, true, true
	draft.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, draft, draft, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("creating a certificate authority: %w", err)
	}
	return authorityOf(der, key)
}

func authorityOf(der []byte, key *ecdsa.PrivateKey) (*authority, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key}, nil
}

// draftOf returns a certificate template, valid for one day.
func draftOf(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("creating a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}, nil
}

// certificate returns a certificate for the name that the client asks for.
func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	if name == "" {
		name = "localhost" // a client that connects to an IP address sends no name
	}
	draft, err := draftOf(name)
	if err != nil {
		return nil, err
	}
	if len(name) > 64 {
		draft.Subject.CommonName = "" // clients use the DNS name; the common name has a length limit
	}
	draft.DNSNames, draft.IPAddresses = []string{name, "localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	draft.KeyUsage, draft.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, draft, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("creating a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}, nil
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

// line returns the authority as a line of the link.
func (a *authority) line() string {
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return sayAuthority // cannot happen with our keys; the other half refuses it
	}
	text, _ := json.Marshal([][]byte{a.cert.Raw, key}) // bytes can be encoded
	return sayAuthority + " " + string(text)
}

// readAuthority parses the arguments of a line written by [authority.line].
func readAuthority(rest string) (*authority, error) {
	var parts [2][]byte
	if err := json.Unmarshal([]byte(rest), &parts); err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(parts[1])
	if err != nil {
		return nil, fmt.Errorf("reading the key of the certificate authority: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key of the certificate authority: unexpected type")
	}
	return authorityOf(parts[0], key)
}
