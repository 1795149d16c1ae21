package ship

import (
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
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
	if location.URL.Scheme == filestore.Scheme {
		dir, err := filestore.Folder(location.URL)
		return dir, nil, err
	}
	dir, err = fallback()
	return dir, &location, err
}
