package plug

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

const (
	// EnvSecondPlace names the file that checkpoints are also kept in, or [NoSecondPlace].
	EnvSecondPlace = "CANDOR_SECOND_PLACE"
	// NoSecondPlace stands for no second place. It is a choice, and it is logged.
	NoSecondPlace = "none"
)

// Keep says how a ledger is kept. The zero value follows the environment and removes nothing.
type Keep struct {
	SecondPlace string        // a file, or [NoSecondPlace]; empty is [EnvSecondPlace], else a file in the state folder
	Age         time.Duration // closed segments that are older may be removed; 0 keeps them
	Bytes       int64         // the oldest closed segments go while all take more; 0 keeps them
	Compress    bool          // closed segments are compressed
}

// Options returns the options of a ledger in dir that is kept so. Warnings go to the log.
func (k Keep) Options(dir, instance string, getenv func(string) string, log *slog.Logger) ledger.Options {
	second, err := k.secondPlace(dir, getenv)
	switch {
	case err != nil:
		log.Warn("checkpoints are kept in the ledger's folder only: name a second place with "+EnvSecondPlace, slog.Any("error", err))
	case second == "" && dir != NoLedger:
		log.Warn("checkpoints are kept in the ledger's folder only, as was asked for")
	}
	return ledger.Options{
		Instance: instance, SecondPlace: second, OwnSecondPlace: slices.Contains(SecondPlaces(dir, getenv), second), Retain: ledger.Retain{Age: k.Age, Bytes: k.Bytes}, Compress: k.Compress,
		OnWarning: func(said ledger.Warning) {
			log.Warn("the ledger warns", slog.String("kind", string(said.Kind)), slog.String("text", said.Text), slog.Any("error", said.Err))
		},
	}
}

func (k Keep) secondPlace(dir string, getenv func(string) string) (string, error) {
	for _, named := range []string{k.SecondPlace, getenv(EnvSecondPlace)} {
		if named == NoSecondPlace {
			return "", nil
		}
		if named != "" {
			return filepath.Abs(named)
		}
	}
	return SecondPlace(dir, getenv)
}

// SecondPlace returns the file in the user's state folder that holds the checkpoints of the ledger in dir. It depends on the path only, so
// that it is found whatever was done to the folder.
func SecondPlace(dir string, getenv func(string) string) (string, error) {
	state, err := StateFolder(getenv)
	if err != nil {
		return "", err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	full = resolved(full)
	sum := sha256.Sum256([]byte(full))
	return filepath.Join(state, "checkpoints", fmt.Sprintf("%s-%s", filepath.Base(full), hex.EncodeToString(sum[:8]))), nil
}

// resolved follows the symbolic links of a path, as far as it is there.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	return filepath.Join(resolved(above), filepath.Base(path))
}

// SecondPlaces returns the places where the checkpoints of the ledger in dir may be without its chains saying so.
func SecondPlaces(dir string, getenv func(string) string) []string {
	if place, err := SecondPlace(dir, getenv); err == nil {
		return []string{place}
	}
	return nil
}

var errSize = errors.New("not a size such as 500MB, 2GiB or 1000000")

// ParseBytes reads a size: a number of bytes, with kB, MB, GB, KiB, MiB or GiB behind it.
func ParseBytes(text string) (int64, error) {
	units := []struct {
		name string
		size int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		var n int64
		if len(text) <= len(u.name) || text[len(text)-len(u.name):] != u.name {
			continue
		}
		digits := text[:len(text)-len(u.name)]
		if _, err := fmt.Sscanf(digits, "%d", &n); err != nil || fmt.Sprint(n) != digits || n < 0 || n > (1<<62)/u.size {
			return 0, errSize
		}
		return n * u.size, nil
	}
	return 0, errSize
}
