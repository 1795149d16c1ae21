package token

import "time"

// KeyInfo describes a key without its secret.
type KeyInfo struct {
	ID      uint8     `json:"id"`
	Made    time.Time `json:"made"`
	Signing bool      `json:"signing"` // it signs new tokens; the others only verify
}

// Keys returns the keys, the one that signs last.
func (r *Keyring) Keys() []KeyInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]KeyInfo, len(r.keys))
	for i, k := range r.keys {
		all[i] = KeyInfo{ID: k.id, Made: k.made, Signing: i == len(r.keys)-1}
	}
	return all
}

// File is the name of the file that holds the keys.
const File = keyFile
