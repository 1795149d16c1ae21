package token

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

const (
	keyFile    = "keys.json"
	lockFile   = "keys.lock"
	keyVersion = 1
	keySize    = 32
	maxKeys    = 16
	maxKeyFile = 64 << 10
)

// Keyring holds the keys for tokens: one that signs, and earlier ones whose tokens are still accepted. It is safe for
// concurrent use, and reloads keys that another process changed when it makes or reads a token.
type Keyring struct {
	root *os.Root

	mu   sync.RWMutex
	keys []key       // the last one signs
	seen fs.FileInfo // the file that the keys were read from
}

// storedKeys is the file of a keyring.
type storedKeys struct {
	Version int   `json:"version"`
	Keys    []key `json:"keys"`
}

type key struct {
	ID     uint8     `json:"id"`
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`
}

// Open reads the keyring in a directory, and creates one with a new key if there is none. If several processes open a
// new directory at the same time, one of them creates the key.
func Open(root *os.Root, now time.Time) (*Keyring, error) {
	r := &Keyring{root: root}
	err := r.Reload()
	if errors.Is(err, fs.ErrNotExist) {
		return r, r.create(now)
	}
	return r, err
}

// lockWait is the maximum wait for another process that changes the keys.
const lockWait = 5 * time.Second

// change calls f with the keys on disk, while no other process changes them.
func (r *Keyring) change(f func() error) error {
	lock, err := filelock.Wait(context.Background(), r.root, lockFile, lockWait)
	if err != nil {
		return err
	}
	if err = r.Reload(); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = f()
	}
	return errors.Join(err, lock.Close())
}

// create creates the first key, unless another process has created it.
func (r *Keyring) create(now time.Time) error {
	return r.change(func() error {
		if len(r.keys) > 0 {
			return nil
		}
		return r.add(now)
	})
}

// refresh reads the file again if it was replaced. If the file cannot be read, the keys stay unchanged.
func (r *Keyring) refresh() {
	info, err := r.root.Lstat(keyFile)
	r.mu.RLock()
	same := err != nil || r.seen != nil && os.SameFile(info, r.seen) && info.Size() == r.seen.Size() && info.ModTime().Equal(r.seen.ModTime())
	r.mu.RUnlock()
	if !same {
		_ = r.Reload()
	}
}

// Reload reads the file again.
func (r *Keyring) Reload() error {
	info, err := r.root.Lstat(keyFile)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyFile {
		return fmt.Errorf("%s is not a file of token keys", keyFile)
	}
	data, err := r.root.ReadFile(keyFile)
	if err != nil {
		return err
	}
	keys, err := parseKeys(data)
	if err != nil {
		return fmt.Errorf("%s: %w", keyFile, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys, r.seen = keys, info
	return nil
}

func parseKeys(data []byte) ([]key, error) {
	var stored storedKeys
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, err
	}
	if stored.Version != keyVersion {
		return nil, fmt.Errorf("version %d is not supported, want %d", stored.Version, keyVersion)
	}
	for _, k := range stored.Keys {
		if len(k.Secret) != keySize {
			return nil, fmt.Errorf("key %d has %d bytes, want %d", k.ID, len(k.Secret), keySize)
		}
	}
	if len(stored.Keys) == 0 {
		return nil, errors.New("no keys")
	}
	return stored.Keys, nil
}

// Rotate creates a new key and signs with it from now on. Tokens of earlier keys stay valid until [Keyring.Retire].
func (r *Keyring) Rotate(now time.Time) error {
	return r.change(func() error { return r.add(now) })
}

// add creates a new key.
func (r *Keyring) add(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := uint8(1)
	if len(r.keys) > 0 {
		next = r.keys[len(r.keys)-1].ID + 1 // wraps around; the ids in use are the last few
	}
	if len(r.keys) == maxKeys {
		return fmt.Errorf("%d keys are in use: retire old ones first", maxKeys)
	}
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // never fails
	return r.save(append(slices.Clone(r.keys), key{next, secret, now.UTC()}))
}

// Retire removes all keys except the signing key; tokens of the others are no longer accepted. It returns the number of
// removed keys.
func (r *Keyring) Retire() (old int, err error) {
	err = r.change(func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if old = len(r.keys) - 1; old == 0 {
			return nil
		}
		return r.save(slices.Clone(r.keys[old:]))
	})
	return old, err
}

// save makes keys durable, then uses them. The caller holds the mutex.
func (r *Keyring) save(keys []key) error {
	data, err := json.MarshalIndent(storedKeys{keyVersion, keys}, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(r.root, keyFile, append(data, '\n'), 0o600); err != nil {
		return err
	}
	r.keys, r.seen = keys, nil // the next token reads it
	return nil
}

func (r *Keyring) current() *key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return &r.keys[len(r.keys)-1]
}

func (r *Keyring) find(id uint8) (*key, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := slices.IndexFunc(r.keys, func(k key) bool { return k.ID == id })
	if i < 0 {
		return nil, false
	}
	return &r.keys[i], true
}

// KeyInfo describes a key without its secret.
type KeyInfo struct {
	ID      uint8     `json:"id"`
	Made    time.Time `json:"made"`
	Signing bool      `json:"signing"` // signs new tokens; the others only verify
}

// Keys returns the keys, the signing key last.
func (r *Keyring) Keys() []KeyInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]KeyInfo, len(r.keys))
	for i, k := range r.keys {
		all[i] = KeyInfo{ID: k.ID, Made: k.Made, Signing: i == len(r.keys)-1}
	}
	return all
}

// File is the name of the file that holds the keys.
const File = keyFile
