package natscluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"
)

// makeCertificates writes an authority, a certificate for all servers and one for clients, and returns the block of the configuration.
func (c *Cluster) makeCertificates(dir string) (string, error) {
	authority, authorityKey, err := writeCertificate(filepath.Join(dir, "ca"), certificate("test authority", true), nil, nil)
	if err != nil {
		return "", err
	}
	server := certificate("server", false)
	for _, each := range c.Servers {
		server.IPAddresses = append(server.IPAddresses, net.ParseIP(each.host.address))
	}
	if _, _, err := writeCertificate(filepath.Join(dir, "server"), server, authority, authorityKey); err != nil {
		return "", err
	}
	if _, _, err := writeCertificate(filepath.Join(dir, "client"), certificate("client", false), authority, authorityKey); err != nil {
		return "", err
	}
	c.CA = filepath.Join(dir, "ca.pem")
	c.ClientCert, c.ClientKey = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	return fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n",
		filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"), c.CA), nil
}

func certificate(name string, authority bool) *x509.Certificate {
	usage := x509.KeyUsageDigitalSignature
	if authority {
		usage |= x509.KeyUsageCertSign
	}
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: authority, BasicConstraintsValid: true, KeyUsage: usage,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// writeCertificate writes PATH.pem and PATH.key. Without an issuer the certificate signs itself.
func writeCertificate(path string, template, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	if err := writeFile(path+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return nil, nil, err
	}
	if err := writeFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})); err != nil {
		return nil, nil, err
	}
	signed, err := x509.ParseCertificate(der)
	return signed, key, err
}
