package ledger

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Where the keys are, and who may read them.
const (
	keysDir     = "keys"
	oldKeysDir  = "keys/old"
	signerKey   = "keys/signer.key"
	signerPub   = "keys/signer.pub"
	digestKey   = "keys/digest.key"
	noteKeyName = "candor-ledger" // of every signer; the chain is in the checkpoint's origin
	digestSize  = 32
	maxKeyFile  = 4 << 10
)

// keys are the secrets of a folder. They do not change while a ledger is open.
type keys struct {
	signer note.Signer
	secret string // the signer line
	public string // the verifier line
	digest []byte
}

// loadKeys reads the keys, making them on first use. The caller holds the folder's lock.
func loadKeys(s storage) (keys, error) {
	if err := makeKeysDir(s); err != nil {
		return keys{}, fmt.Errorf("making the folder for keys: %w", err)
	}
	k, err := loadSigner(s)
	if err != nil {
		return keys{}, err
	}
	k.digest, err = readSmall(s, digestKey, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		k.digest = make([]byte, digestSize)
		_, _ = rand.Read(k.digest) // never fails, see crypto/rand
		err = keepKey(s, digestKey, k.digest, 0o600)
	}
	if err != nil {
		return keys{}, fmt.Errorf("loading the key for digests: %w", err)
	}
	if len(k.digest) != digestSize {
		return keys{}, fmt.Errorf("loading the key for digests: it has %d bytes, not %d", len(k.digest), digestSize)
	}
	return k, nil
}

// makeKeysDir makes the folder durable before there is anything in it. If that fails it is taken away again, for the reason [keepKey] has.
func makeKeysDir(s storage) error {
	if _, _, err := s.Stat(keysDir); err == nil {
		return nil
	}
	err := s.MkdirAll(keysDir, 0o700)
	if err == nil {
		err = s.SyncDir(".")
	}
	if err != nil {
		err = errors.Join(err, remove(s, keysDir))
	}
	return err
}

func loadSigner(s storage) (keys, error) {
	secret, err := readSmall(s, signerKey, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSigner(s)
	}
	if err != nil {
		return keys{}, fmt.Errorf("loading the signing key: %w", err)
	}
	line := strings.TrimSpace(string(secret))
	signer, err := note.NewSigner(line)
	if err != nil {
		return keys{}, errors.New("loading the signing key: it is not one") // the library's error could show it
	}
	public, err := verifierOf(line)
	if err != nil {
		return keys{}, err
	}
	k := keys{signer: signer, secret: line, public: public}
	shown, err := readSmall(s, signerPub, maxKeyFile)
	if err == nil && strings.TrimSpace(string(shown)) == public {
		return k, nil
	}
	if err := keepKey(s, signerPub, []byte(public+"\n"), 0o644); err != nil { // a crash came between the two files
		return keys{}, fmt.Errorf("keeping the public key: %w", err)
	}
	return k, nil
}

// makeSigner writes the secret half first: the public one can be made from it again.
func makeSigner(s storage) (keys, error) {
	secret, public, err := note.GenerateKey(rand.Reader, noteKeyName)
	if err != nil {
		return keys{}, fmt.Errorf("making a signing key: %w", err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return keys{}, fmt.Errorf("making a signing key: %w", err)
	}
	if err := keepKey(s, signerKey, []byte(secret+"\n"), 0o600); err != nil {
		return keys{}, fmt.Errorf("keeping the signing key: %w", err)
	}
	if err := keepKey(s, signerPub, []byte(public+"\n"), 0o644); err != nil {
		return keys{}, fmt.Errorf("keeping the public key: %w", err)
	}
	return keys{signer: signer, secret: secret, public: public}, nil
}

// restoreKeys puts the keys into a folder that was removed under this writer and made again, so that what it goes on to sign verifies as
// before. A folder that has keys keeps them, and they are used from then on. The caller holds the folder's lock.
func (w *writer) restoreKeys() error {
	err := makeKeysDir(w.storage)
	if err == nil {
		err = w.restoreKey(signerKey, []byte(w.keys.secret+"\n"))
	}
	if err == nil {
		err = w.restoreKey(digestKey, w.keys.digest)
	}
	if err != nil {
		return fmt.Errorf("restoring the keys: %w", err)
	}
	w.keys, err = loadKeys(w.storage)
	return err
}

func (w *writer) restoreKey(name string, key []byte) error {
	_, _, err := w.storage.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return keepKey(w.storage, name, key, 0o600)
}

// keepKey writes a key that was not there. If that fails nobody knows whether it is on the disk, so it is taken away again: better that the next
// opener makes another than that it signs with one that a power cut may take.
func keepKey(s storage, name string, key []byte, mode fs.FileMode) error {
	err := s.WriteFile(name, key, mode)
	if err != nil {
		err = errors.Join(err, remove(s, name))
	}
	return err
}

// PublicKeys returns the verifier lines of a ledger folder, the current one first, then those it replaced.
func PublicKeys(dir string) ([]string, error) {
	s, err := openStorage(dir)
	if err != nil {
		return nil, err
	}
	lines, err := publicKeys(s)
	return lines, errors.Join(err, s.Close())
}

func publicKeys(s storage) ([]string, error) {
	names := []string{signerPub}
	old, err := s.List(oldKeysDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing old keys: %w", err)
	}
	for _, name := range old {
		if strings.HasSuffix(name, ".pub") {
			names = append(names, oldKeysDir+"/"+name)
		}
	}
	var lines []string
	for _, name := range names {
		line, err := readSmall(s, name, maxKeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		lines = append(lines, strings.TrimSpace(string(line)))
	}
	return lines, nil
}

// RotateKey replaces the signing key of a ledger folder and returns the new public key. The old public key stays, in keys/old; the old
// secret is gone. Writers that are open go on with the key they have until they are opened again.
func RotateKey(dir string) (string, error) {
	s, err := openStorage(dir)
	if err != nil {
		return "", err
	}
	public, err := rotateKey(s)
	return public, errors.Join(err, s.Close())
}

func rotateKey(s storage) (string, error) {
	unlock, err := lockFolder(s, defaultLockWait)
	if err != nil {
		return "", err
	}
	k, err := loadKeys(s)
	if err == nil {
		err = s.MkdirAll(oldKeysDir, 0o700)
	}
	if err == nil { // the old public half is durable before anything is replaced
		err = s.WriteFile(oldKeysDir+"/"+keyFileName(k.public)+".pub", []byte(k.public+"\n"), 0o644)
	}
	if err == nil {
		k, err = makeSigner(s)
	}
	return k.public, errors.Join(err, unlock())
}

// keyFileName is the hash that a verifier line has in its middle; it tells keys apart and is safe in a file name.
func keyFileName(public string) string {
	parts := strings.Split(public, "+")
	if len(parts) < 3 {
		return "unknown"
	}
	return parts[1]
}

// readSmall reads a whole file that is expected to be small and refuses one that is not.
func readSmall(s storage, name string, limit int64) ([]byte, error) {
	size, _, err := s.Stat(name)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, size, limit)
	}
	b := make([]byte, size)
	if size == 0 {
		return b, nil
	}
	n, err := s.ReadAt(name, b, 0)
	if int64(n) == size {
		return b, nil
	}
	return nil, fmt.Errorf("reading %s: %w", name, err)
}

// verifierOf returns the verifier line of a secret line, which holds the seed of an Ed25519 key.
func verifierOf(secret string) (string, error) {
	parts := strings.SplitN(secret, "+", 5) // PRIVATE+KEY+name+hash+key
	if len(parts) != 5 {
		return "", errors.New("loading the signing key: it is not one")
	}
	raw, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(raw) != 1+32 {
		return "", errors.New("loading the signing key: it is not one")
	}
	public, err := note.NewEd25519VerifierKey(parts[2], publicOf(raw[1:]))
	if err != nil {
		return "", fmt.Errorf("loading the signing key: %w", err)
	}
	return public, nil
}

func publicOf(seed []byte) ed25519.PublicKey {
	private := ed25519.NewKeyFromSeed(seed)
	return ed25519.PublicKey(private[ed25519.SeedSize:])
}
