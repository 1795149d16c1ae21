package release

import "fmt"

// CheckSizes returns an error if an executable is larger than its program may be.
func CheckSizes(binaries []Binary) error {
	for _, b := range binaries {
		if len(b.Content) > b.Program.MaxSize {
			return fmt.Errorf("%s for %s/%s: %.1f MB, want at most %d MB; go version -m lists the modules in it",
				b.Program.Name, b.Platform.OS, b.Platform.Arch, float64(len(b.Content))/1e6, b.Program.MaxSize/1_000_000)
		}
	}
	return nil
}
