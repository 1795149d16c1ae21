//go:build !linux

package stdio

import "io"

// watchHangUp is not supported on this system. A disconnect is detected by reading.
func watchHangUp(io.Reader) (hungUp <-chan struct{}, stop func()) { return nil, func() {} }
