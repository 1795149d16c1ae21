package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
)

// fault is one thing that happens to the servers. begin returns how to end it.
type fault struct {
	name       string
	cuts       bool // needs network namespaces
	cutsLeader bool // an old leader may answer clients: one that is cut off from the others, or was stopped while they elected another
	begin      func(p *testbed, leader *natscluster.Server, others []*natscluster.Server) (end func() error, err error)
}

var allFaults = []fault{
	{name: "leader killed", begin: func(_ *testbed, leader *natscluster.Server, _ []*natscluster.Server) (func() error, error) {
		return killed(leader)
	}},
	{name: "follower killed", begin: func(_ *testbed, _ *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return killed(others[0])
	}},
	{name: "two killed", begin: func(_ *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return killed(leader, others[0])
	}},
	{name: "all killed", begin: func(_ *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return killed(leader, others[0], others[1])
	}},
	{name: "leader stopped", cutsLeader: true, begin: func(_ *testbed, leader *natscluster.Server, _ []*natscluster.Server) (func() error, error) {
		return paused(leader)
	}},
	{name: "follower stopped", begin: func(_ *testbed, _ *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return paused(others[0])
	}},
	{name: "leader cut off", cuts: true, cutsLeader: true, begin: func(p *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return p.cut(pair(leader, others[0]), pair(leader, others[1]))
	}},
	{name: "follower cut off", cuts: true, begin: func(p *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return p.cut(pair(others[0], leader), pair(others[0], others[1]))
	}},
	{name: "all cut off", cuts: true, cutsLeader: true, begin: func(p *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return p.cut(pair(leader, others[0]), pair(leader, others[1]), pair(others[0], others[1]))
	}},
	{name: "leader heard but not hearing", cuts: true, cutsLeader: true, begin: func(p *testbed, leader *natscluster.Server, others []*natscluster.Server) (func() error, error) {
		return p.drop([][2]*natscluster.Server{{others[0], leader}, {others[1], leader}})
	}},
}

// chooseFaults returns the faults of a round. The first ones take turns, so that a run of ten rounds has all of them.
func (p *testbed) chooseFaults(number int, rng *rand.Rand, partitions bool) []fault {
	if *rounds == 1 {
		return allFaults[1:2] // an election would take longer than all else
	}
	var possible []fault
	for _, f := range allFaults {
		if partitions || !f.cuts {
			possible = append(possible, f)
		}
	}
	chosen := []fault{possible[number%len(possible)]}
	for range rng.IntN(2) {
		chosen = append(chosen, possible[rng.IntN(len(possible))])
	}
	return chosen
}

func names(faults []fault) string {
	var out []string
	for _, f := range faults {
		out = append(out, f.name)
	}
	return strings.Join(out, ", then ")
}

// inject lets a fault happen for a random time, which may be shorter or longer than an election, and ends it.
func (p *testbed) inject(f fault, rng *rand.Rand) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	leader, err := p.cluster.StreamLeader(ctx, streamName)
	if err != nil {
		p.t.Fatal(err)
	}
	var others []*natscluster.Server
	for _, i := range rng.Perm(len(p.cluster.Servers)) {
		if server := p.cluster.Servers[i]; server != leader {
			others = append(others, server)
		}
	}
	end, err := f.begin(p, leader, others)
	if err != nil {
		p.t.Fatalf("%s: %v", f.name, err)
	}
	longest := 6 * time.Second
	if *rounds == 1 {
		longest = 100 * time.Millisecond
	}
	// A fault lasts for a random time: nothing tells when the cluster has noticed it.
	time.Sleep(longest/10 + time.Duration(rng.Int64N(int64(longest))))
	if err := end(); err != nil {
		p.t.Fatalf("ending %s: %v", f.name, err)
	}
}

func killed(servers ...*natscluster.Server) (func() error, error) {
	for _, server := range servers {
		server.Kill()
	}
	return func() error {
		var errs error
		for _, server := range servers {
			errs = errors.Join(errs, server.Start())
		}
		return errs
	}, nil
}

func paused(server *natscluster.Server) (func() error, error) {
	return server.Continue, server.Pause()
}

func pair(a, b *natscluster.Server) [2]*natscluster.Server { return [2]*natscluster.Server{a, b} }

// cut cuts the connections between pairs of servers, in both directions.
func (p *testbed) cut(pairs ...[2]*natscluster.Server) (func() error, error) {
	var both [][2]*natscluster.Server
	for _, two := range pairs {
		both = append(both, two, pair(two[1], two[0]))
	}
	return p.drop(both)
}

// drop drops the packets from the first server of each pair to the second.
func (p *testbed) drop(pairs [][2]*natscluster.Server) (func() error, error) {
	var restores []func() error
	end := func() error {
		var errs error
		for _, restore := range restores {
			errs = errors.Join(errs, restore())
		}
		return errs
	}
	for _, two := range pairs {
		restore, err := p.cluster.Block(two[0], two[1])
		if err != nil {
			return nil, errors.Join(err, end())
		}
		restores = append(restores, restore)
	}
	return end, nil
}

// streamName is the stream of a store if its URL names none.
const streamName = "CANDOR"
