//go:build !linux

package stdio

import "io"

// watchHangUp is not built for this system: that the peer has hung up is noticed by reading.
func watchHangUp(io.Reader) (hungUp <-chan struct{}, stop func()) { return nil, func() {} }
