// Package keys stores the keys of a ledger: one signs checkpoints, the other computes the digests of arguments.
package keys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/internal/notekey"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// Keys are the keys of a ledger folder. They do not change while a ledger is open.
type Keys struct {
	Signer note.Signer
	secret string // the signer line
	Public string // the verifier line
	Digest []byte
	// Rotations are the notes about earlier keys, oldest first: each names a replaced key and its successor, and is signed with both.
	Rotations []string
}

// Load reads the keys and creates them on first use. The caller holds the folder's lock.
func Load(s storage.Storage) (Keys, error) {
	if err := makeKeysDir(s); err != nil {
		return Keys{}, fmt.Errorf("making the key folder: %w", err)
	}
	k, err := loadSigner(s)
	if err != nil {
		return Keys{}, err
	}
	k.Digest, err = storage.ReadSmall(s.Files(), format.DigestKey, format.MaxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		k.Digest = make([]byte, format.DigestSize)
		_, _ = rand.Read(k.Digest) // never fails, see crypto/rand
		err = keepKey(s, format.DigestKey, k.Digest, 0o600)
	}
	if err != nil {
		return Keys{}, fmt.Errorf("loading the digest key: %w", err)
	}
	if len(k.Digest) != format.DigestSize {
		return Keys{}, fmt.Errorf("loading the digest key: %d bytes, want %d", len(k.Digest), format.DigestSize)
	}
	k.Rotations, err = readRotations(s)
	return k, err
}

// readRotations returns the notes about earlier keys. A folder of an earlier version has none.
func readRotations(s storage.Storage) ([]string, error) {
	text, err := storage.ReadSmall(s.Files(), format.Rotations, format.MaxRotations*format.MaxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading earlier keys: %w", err)
	}
	var notes []string
	for note := range strings.SplitSeq(string(text), format.BlockEnd) {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, nil
}

// recordRotation writes a note that names the old and the new key and is signed with both, so that a reader who trusts one of
// them can trust the other.
func recordRotation(s storage.Storage, old Keys, secret, public string) error {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return fmt.Errorf("recording the rotation: %w", err)
	}
	text := fmt.Sprintf("%s\nold %s\nnew %s\n", format.RotationOrigin, old.Public, public)
	signed, err := note.Sign(&note.Note{Text: text}, old.Signer, signer)
	if err != nil {
		return fmt.Errorf("recording the rotation: %w", err)
	}
	notes := append(old.Rotations, string(signed))
	notes = notes[max(0, len(notes)-format.MaxRotations):]
	return storage.WriteFile(s, format.Rotations, joinRotations(notes), 0o644)
}

func joinRotations(notes []string) []byte {
	return []byte(strings.Join(notes, format.BlockEnd) + format.BlockEnd)
}

// makeKeysDir creates the folder durably before a key is written. If that fails it removes the folder, for the same
// reason as [keepKey].
func makeKeysDir(s storage.Storage) error {
	if _, err := fs.Stat(s.Files(), format.KeysDir); err == nil {
		return nil
	}
	err := s.MkdirAll(format.KeysDir, 0o700)
	if err == nil {
		err = s.SyncDir(".")
	}
	if err != nil {
		err = errors.Join(err, storage.Remove(s, format.KeysDir))
	}
	return err
}

func loadSigner(s storage.Storage) (Keys, error) {
	secret, err := storage.ReadSmall(s.Files(), format.SignerKey, format.MaxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSigner(s)
	}
	if err != nil {
		return Keys{}, fmt.Errorf("loading the signing key: %w", err)
	}
	line := strings.TrimSpace(string(secret))
	signer, err := note.NewSigner(line)
	if err != nil {
		return Keys{}, errors.New("loading the signing key: malformed") // the library's error could reveal it
	}
	public, err := notekey.Verifier(line)
	if err != nil {
		return Keys{}, fmt.Errorf("loading the signing key: %w", err)
	}
	k := Keys{Signer: signer, secret: line, Public: public}
	shown, err := storage.ReadSmall(s.Files(), format.SignerPub, format.MaxKeyFile)
	if err == nil && strings.TrimSpace(string(shown)) == public {
		return k, nil
	}
	if err := keepKey(s, format.SignerPub, []byte(public+"\n"), 0o644); err != nil { // a crash happened between writing the two files
		return Keys{}, fmt.Errorf("keeping the public key: %w", err)
	}
	return k, nil
}

// makeSigner writes the private key first, because the public key can be derived from it.
func makeSigner(s storage.Storage) (Keys, error) {
	secret, public, err := note.GenerateKey(rand.Reader, format.NoteKeyName)
	if err != nil {
		return Keys{}, fmt.Errorf("making a signing key: %w", err)
	}
	return keepSigner(s, secret, public)
}

func keepSigner(s storage.Storage, secret, public string) (Keys, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Keys{}, fmt.Errorf("making a signing key: %w", err)
	}
	if err := keepKey(s, format.SignerKey, []byte(secret+"\n"), 0o600); err != nil {
		return Keys{}, fmt.Errorf("keeping the signing key: %w", err)
	}
	if err := keepKey(s, format.SignerPub, []byte(public+"\n"), 0o644); err != nil {
		return Keys{}, fmt.Errorf("keeping the public key: %w", err)
	}
	return Keys{Signer: signer, secret: secret, Public: public}, nil
}

// Restore writes the keys to a folder that was removed and created again while k was in use, so that checkpoints
// signed from then on verify as before. If the folder already has keys, Restore returns those instead. The caller
// holds the folder's lock.
func Restore(s storage.Storage, k Keys) (Keys, error) {
	err := makeKeysDir(s)
	if err == nil {
		err = restoreKey(s, format.SignerKey, []byte(k.secret+"\n"))
	}
	if err == nil {
		err = restoreKey(s, format.DigestKey, k.Digest)
	}
	if err == nil && len(k.Rotations) > 0 {
		err = restoreKey(s, format.Rotations, joinRotations(k.Rotations))
	}
	if err != nil {
		return k, fmt.Errorf("restoring the keys: %w", err)
	}
	return Load(s)
}

func restoreKey(s storage.Storage, name string, key []byte) error {
	_, err := fs.Stat(s.Files(), name)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return keepKey(s, name, key, 0o600)
}

// keepKey writes a key that did not exist. If that fails it is unknown whether the key is on the disk, so keepKey
// removes it: the next process that opens the folder should create another key rather than sign with one that a power
// cut may lose.
func keepKey(s storage.Storage, name string, key []byte, mode fs.FileMode) error {
	err := storage.WriteFile(s, name, key, mode)
	if err != nil {
		err = errors.Join(err, storage.Remove(s, name))
	}
	return err
}

// Public returns the public keys of a ledger, the current one first.
func Public(s storage.Storage) ([]string, error) {
	names := []string{format.SignerPub}
	old, err := fs.ReadDir(s.Files(), format.OldKeysDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing old keys: %w", err)
	}
	for _, item := range old {
		if name := item.Name(); strings.HasSuffix(name, ".pub") {
			names = append(names, format.OldKeysDir+"/"+name)
		}
	}
	var lines []string
	for _, name := range names {
		line, err := storage.ReadSmall(s.Files(), name, format.MaxKeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		lines = append(lines, strings.TrimSpace(string(line)))
	}
	return lines, nil
}

// Rotate replaces the signing key and returns the new public key. The caller holds the folder's lock.
func Rotate(s storage.Storage) (string, error) {
	k, err := Load(s)
	if err == nil {
		err = s.MkdirAll(format.OldKeysDir, 0o700)
	}
	if err == nil { // the old public key is durable before the signing key is replaced
		err = storage.WriteFile(s, format.OldKeysDir+"/"+keyFileName(k.Public)+".pub", []byte(k.Public+"\n"), 0o644)
	}
	if err != nil {
		return k.Public, err
	}
	secret, public, err := note.GenerateKey(rand.Reader, format.NoteKeyName)
	if err != nil {
		return k.Public, fmt.Errorf("making a signing key: %w", err)
	}
	if err := recordRotation(s, k, secret, public); err != nil { // before the key is used: a crash leaves a note about a key that never signs
		return k.Public, err
	}
	k, err = keepSigner(s, secret, public)
	return k.Public, err
}

// keyFileName returns the hash in the middle of a verifier line, which is unique to a key and safe in a file name.
func keyFileName(public string) string {
	parts := strings.Split(public, "+")
	if len(parts) < 3 {
		return "unknown"
	}
	return parts[1]
}
