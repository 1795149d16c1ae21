package release

import "fmt"

// MaxSize is the limit of an executable, in bytes. docs/decisions/028-engines-of-a-cluster.md says why.
const MaxSize = 40_000_000

// CheckSizes returns an error if an executable is larger than [MaxSize].
func CheckSizes(binaries []Binary) error {
	for _, b := range binaries {
		if len(b.Content) > MaxSize {
			return fmt.Errorf("executable for %s/%s: %.1f MB, want at most %d MB; go version -m lists the modules in it",
				b.Platform.OS, b.Platform.Arch, float64(len(b.Content))/1e6, MaxSize/1_000_000)
		}
	}
	return nil
}
