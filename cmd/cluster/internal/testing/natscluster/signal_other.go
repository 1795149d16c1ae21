//go:build !unix

package natscluster

import "os"

// Processes of these systems cannot be paused: the signals give an error.
var (
	pauseSignal    = os.Interrupt
	continueSignal = os.Interrupt
	reloadSignal   = os.Interrupt
)
