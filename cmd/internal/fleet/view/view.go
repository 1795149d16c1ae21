// Package view presents the lines of a store as the folder of a ledger, one file system per node, so that what reads and verifies a
// folder reads and verifies a fleet.
package view
