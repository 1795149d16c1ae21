package ledgerconfig

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

const (
	// EnvWitnessCopy is the variable with the path of the witness copy, or [NoWitnessCopy].
	EnvWitnessCopy = "CANDOR_WITNESS_COPY"
	// EnvKeepAge is the variable with the age above which closed segments are removed.
	EnvKeepAge = "CANDOR_LEDGER_KEEP_AGE"
	// EnvKeepBytes is the variable with the total size above which the oldest closed segments are removed.
	EnvKeepBytes = "CANDOR_LEDGER_KEEP_BYTES"
	// EnvCompress is the variable that enables compression of closed segments.
	EnvCompress = "CANDOR_LEDGER_COMPRESS"
	// NoWitnessCopy turns the witness copy off. That is logged.
	NoWitnessCopy = "none"
)

// Keep has the settings for checkpoints and retention of a ledger. Zero fields follow the environment; without its variables
// nothing is removed or compressed.
type Keep struct {
	WitnessCopy string        // a file, or "none"; empty is [EnvWitnessCopy], else a file in the state folder
	Age         time.Duration // closed segments that are older are removed; 0 is [EnvKeepAge]
	Bytes       int64         // the oldest closed segments are removed above this total; 0 is [EnvKeepBytes]
	Compress    bool          // compress closed segments; false is [EnvCompress]
}

// Options returns the options for the ledger in dir. Its warnings go to log. The error names a variable with an invalid value.
func (k Keep) Options(dir, instance string, getenv func(string) string, log *slog.Logger) (ledger.Options, error) {
	k, err := k.fromEnv(getenv)
	if err != nil {
		return ledger.Options{}, err
	}
	second, err := k.witnessCopy(dir, getenv)
	switch {
	case err != nil:
		log.Warn("checkpoints are kept only in the folder of the ledger; name a witness copy with "+EnvWitnessCopy, slog.Any("error", err))
	case second == "" && dir != NoLedger:
		log.Warn("checkpoints are kept only in the folder of the ledger, as configured")
	}
	return ledger.Options{
		Instance: instance, WitnessCopy: second, OwnWitnessCopy: slices.Contains(WitnessCopies(dir, getenv), second), RetainAge: k.Age, RetainBytes: k.Bytes, Compress: k.Compress,
		OnWarning: func(w ledger.Warning) {
			log.Warn("ledger warning", slog.String("kind", string(w.Kind)), slog.String("text", w.Text), slog.Any("error", w.Err))
		},
	}, nil
}

// fromEnv fills the fields for retention and compression that are not set from the environment.
func (k Keep) fromEnv(getenv func(string) string) (Keep, error) {
	for name, set := range map[string]func(string) error{
		EnvKeepAge:   func(text string) error { return setDefault(&k.Age, text, ParseAge) },
		EnvKeepBytes: func(text string) error { return setDefault(&k.Bytes, text, ParseBytes) },
		EnvCompress:  func(text string) error { return setDefault(&k.Compress, text, parseSwitch) },
	} {
		if text := getenv(name); text != "" {
			if err := set(text); err != nil {
				return k, fmt.Errorf("%s=%q: %w", name, text, err)
			}
		}
	}
	return k, nil
}

// setDefault sets a field that is zero. The text must be valid even if the field is set.
func setDefault[T comparable](field *T, text string, parse func(string) (T, error)) error {
	value, err := parse(text)
	if err != nil {
		return err
	}
	*field = cmp.Or(*field, value)
	return nil
}

func parseSwitch(text string) (bool, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("not true or false")
	}
	return on, nil
}

// ParseAge parses a duration that is not negative. It also accepts days: 7d.
func ParseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("not a duration such as 15m, 24h or 7d")
	}
	return d, nil
}

func (k Keep) witnessCopy(dir string, getenv func(string) string) (string, error) {
	for _, named := range []string{k.WitnessCopy, getenv(EnvWitnessCopy)} {
		if named == NoWitnessCopy {
			return "", nil
		}
		if named != "" {
			return filepath.Abs(named)
		}
	}
	return WitnessCopy(dir, getenv)
}

// WitnessCopy returns the file in the user's state folder that holds the checkpoints of the ledger in dir. The name depends only on
// the path, so that the file is found even if the folder was changed or removed.
func WitnessCopy(dir string, getenv func(string) string) (string, error) {
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

// resolved follows the symbolic links in the part of a path that exists.
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

// WitnessCopies returns the files where checkpoints of the ledger in dir may be although its chains do not name them.
func WitnessCopies(dir string, getenv func(string) string) []string {
	if place, err := WitnessCopy(dir, getenv); err == nil {
		return []string{place}
	}
	return nil
}

var errSize = errors.New("not a size such as 500MB, 2GiB or 1000000")

// ParseBytes parses a number of bytes with an optional unit: B, kB, MB, GB, KiB, MiB or GiB.
func ParseBytes(text string) (int64, error) {
	units := []struct {
		name string
		size int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok || digits == "" {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 62)
		if err != nil || int64(n) > (1<<62)/u.size {
			return 0, errSize
		}
		return int64(n) * u.size, nil
	}
	return 0, errSize
}
