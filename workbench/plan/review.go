package plan

import "io"

// Review shows a proposed plan to the person who is to approve it. files are the existing files of the workspace, of which it tells how many
// each scope matches. If it returns an error the person has not seen everything, and must not be asked.
func Review(w io.Writer, previous *Stored, proposed Stored, files []string, colour bool) error { return nil }
