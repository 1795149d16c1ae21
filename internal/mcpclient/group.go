package mcpclient

import "os/exec"

// group is a process in a process group of its own.
type group struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func startGroup(cmd *exec.Cmd) (Process, error) {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(g.done) }() // its messages and standard error show how it ended
	return g, nil
}

// Done implements [Process].
func (g *group) Done() <-chan struct{} { return g.done }
