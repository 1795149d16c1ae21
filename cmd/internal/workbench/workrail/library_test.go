package workrail_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestValidateReportsAnIDThatIsTaken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(filepath.Join(p.workflows, "zz.yml"), plain)
	s := p.start()
	if got := s.call("list_workflows", args{}).data("unusable", 0); got != "zz.yml" {
		t.Errorf("unusable: %q", got)
	}
	a := s.call("validate_workflow", args{"file": "zz.yml"}).fine()
	if valid, _ := a.M.Result().Path("structuredContent", "valid").Bool(); valid || !strings.Contains(strings.Join(a.lines(), "\n"), "the id plain is taken by plain.yaml") {
		t.Errorf("it says %s", a.M.Bytes())
	}
	for _, in := range []args{{"file": "plain.yaml"}, {"content": plain}} {
		a = s.call("validate_workflow", in).fine()
		if valid, _ := a.M.Result().Path("structuredContent", "valid").Bool(); !valid {
			t.Errorf("%v: it says %s", in, a.M.Bytes())
		}
	}
}

func TestLinksAreListedAsUnusable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	p := newPlace(t)
	if err := os.Symlink("plain.yaml", filepath.Join(p.workflows, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	s := p.start()
	if got := s.call("list_workflows", args{}).data("unusable", 0); got != "link.yaml" {
		t.Errorf("unusable: %q", got)
	}
	if text := strings.Join(s.call("validate_workflow", args{"file": "link.yaml"}).fine().lines(), "\n"); !strings.Contains(text, "link.yaml: file: not a regular file") {
		t.Errorf("it says %s", text)
	}
}

func TestMissingWorkflowFolderIsReported(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	if err := os.RemoveAll(p.workflows); err != nil {
		t.Fatal(err)
	}
	for tool, in := range map[string]args{"list_workflows": {}, "start_workflow": {"workflowId": "plain"}} {
		a := s.call(tool, in).is("INTERNAL_ERROR")
		if message, _ := a.envelope().Path("message").Str(); !strings.Contains(message, "workflow folder") || strings.Contains(message, "state") {
			t.Errorf("%s: the message is %q", tool, message)
		}
	}
}
