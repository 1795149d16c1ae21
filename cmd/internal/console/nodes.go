package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger/verify"
)

// verifyNodes verifies the ledger of each node on its own and joins the reports. A chain is named NODE/CHAIN in it.
func verifyNodes(ctx context.Context, dir string, progress func(verify.Progress)) (verify.Report, error) {
	all := verify.Report{OK: true, OwnKeys: true, Chains: []verify.Chain{}, Damage: []verify.Damage{}, WitnessCopies: []string{}}
	nodes, err := os.ReadDir(dir)
	if err != nil {
		return all, err
	}
	for _, node := range nodes {
		if !node.IsDir() || !fleet.ValidNode(node.Name()) {
			continue
		}
		before := all.Bytes
		report, err := verify.Dir(ctx, filepath.Join(dir, node.Name()), verify.Options{Progress: func(p verify.Progress) {
			p.Bytes += before
			progress(p)
		}})
		if errors.Is(err, verify.ErrNoLedger) {
			continue
		}
		if err != nil {
			return all, fmt.Errorf("node %s: %w", node.Name(), err)
		}
		addReport(&all, &report, node.Name())
	}
	return all, nil
}

// addReport adds the report of a node.
func addReport(all, report *verify.Report, node string) {
	all.OK = all.OK && report.OK
	all.Entries += report.Entries
	all.Bytes += report.Bytes
	named := func(d verify.Damage) verify.Damage {
		if d.Chain != "" {
			d.Chain = node + "/" + d.Chain
		} else {
			d.Chain = node
		}
		return d
	}
	for _, chain := range report.Chains {
		chain.Chain = node + "/" + chain.Chain
		if chain.Damage != nil {
			damage := named(*chain.Damage)
			chain.Damage = &damage
		}
		all.Chains = append(all.Chains, chain)
	}
	for _, damage := range report.Damage {
		all.Damage = append(all.Damage, named(damage))
	}
	all.WitnessCopies = append(all.WitnessCopies, report.WitnessCopies...)
	all.UnreadWitnessCopies = append(all.UnreadWitnessCopies, report.UnreadWitnessCopies...)
	all.Foreign = append(all.Foreign, report.Foreign...)
}
