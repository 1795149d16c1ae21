package ship

import (
	"fmt"
	"net/url"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Locate returns the folder of a ledger that is given by a folder, the URL of a store, or nothing, and the location of the store it is
// shipped to; nil if it is not shipped. fallback returns the folder if the name does not. The URL file:DIR without a folder (dir=) is the
// ledger folder DIR itself. The error has a hint.
func Locate(named string, fallback func() (string, error)) (dir string, at *fleet.Location, err error) {
	switch {
	case named == "":
		dir, err = fallback()
		return dir, nil, err
	case !fleet.IsLocation(named):
		return named, nil, nil
	}
	location, err := fleet.ParseLocation(named)
	if err != nil {
		return "", nil, err
	}
	if location.Dir != "" {
		return location.Dir, &location, nil
	}
	if location.URL.Scheme == "file" {
		dir, err := folderOf(location.URL)
		return dir, nil, err
	}
	dir, err = fallback()
	return dir, &location, err
}

// folderOf returns the folder of a file: URL.
func folderOf(u *url.URL) (string, error) {
	dir := u.Opaque
	if dir == "" {
		dir = u.Path
	}
	if dir, err := url.PathUnescape(dir); err == nil && dir != "" && u.Host == "" {
		return dir, nil
	}
	return "", fmt.Errorf("%s does not name a folder (hint: file:DIR or file:///DIR)", u.Redacted())
}
