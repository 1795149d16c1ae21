package kaiza_test

import (
	"testing"
)

// TestNewNamesWithInvisibleCharactersAreRefused writes names with characters that an approver cannot see.
func TestNewNamesWithInvisibleCharactersAreRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved(`"**"`)
	p.write("src/old\u200bname.txt", "old\n")
	c := p.executor()
	for _, r := range []rune{0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0x2061, 0x2064, 0xfeff, 0x00ad, 0x061c, 0x180e, 0x034f, 0x115f, 0x3164, 0xffa0, 0x2800, 0x206a, 0xe0001, 0xe0041, 0xe007f,
		0xfe00, 0xfe0f, 0xe0100, 0x202e, 0x2066, 0xa0, 0x2003, 0x3000, 0xe000, 0x1d173, 0xfff9} {
		name := "src/a" + string(r) + "b.txt"
		c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan}).is("INVALID_PATH")
		c.call("write_file", args{"path": "src/d" + string(r) + "/b.txt", "content": "x\n", "plan_hash": plan, "make_dirs": true}).is("INVALID_PATH")
		c.call("apply_patch", args{"patch": "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n", "plan_hash": plan}).is("INVALID_PATH")
	}
	for _, name := range []string{"src/größe.txt", "src/名前.txt", "src/e\u0301.txt", "src/with space.txt", "src/नमस्ते.txt"} {
		c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan}).fine()
	}
	c.call("read_file", args{"path": "src/old\u200bname.txt"}).fine() // existing files can be read, replaced and removed
	c.call("write_file", args{"path": "src/old\u200bname.txt", "content": "new\n", "previous_hash": hashOf("old\n"), "plan_hash": plan}).fine()
	c.call("delete_file", args{"path": "src/old\u200bname.txt", "previous_hash": hashOf("new\n"), "plan_hash": plan}).fine()
}
