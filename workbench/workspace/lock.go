package workspace

import (
	"context"
	"errors"
	"os"
	"time"
)

// Lock takes the lock for changes.
func Lock(ctx context.Context, state *os.Root, wait time.Duration) (release func() error, err error) {
	return nil, errors.ErrUnsupported
}
