package natscluster_test

import (
	_ "github.com/anishathalye/porcupine" // checks histories for linearizability
)
