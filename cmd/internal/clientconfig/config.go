package clientconfig

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// Config is a configuration file that was parsed.
type Config struct {
	Servers []Server

	client Client
	src    []byte
	root   *node
	older  []*Config // backups of the file, the newest first
}

// Parse reads the text of a client's file.
func Parse(c Client, src []byte) (*Config, error) {
	root, err := c.parse(src)
	if err != nil {
		return nil, err
	}
	config := &Config{client: c, src: src, root: root}
	if c.hook != nil {
		return config, config.readHook()
	}
	err = config.add("", c.servers)
	if err != nil || c.perPath == "" {
		return config, err
	}
	if projects := root.child(c.perPath); projects != nil {
		for _, project := range projects.members {
			if err := config.add(project.name, append([]string{c.perPath, project.name}, c.servers...)); err != nil {
				return nil, err
			}
		}
	}
	return config, nil
}

func (c Client) parse(src []byte) (*node, error) {
	root, err := [...]func([]byte) (*node, error){formatJSON: parseJSONC, formatTOML: parseTOML, formatYAML: parseYAML}[c.format](src)
	if err == nil && root.kind != kindTable {
		err = syntaxError(src, root.start, "not an object")
	}
	return root, err
}

// add reads the table with servers at a path.
func (c *Config) add(project string, at []string) error {
	n := c.root
	for _, name := range at {
		if n.repeats(name) {
			return syntaxError(c.src, n.get(name).start, "the name "+quoted(name)+" occurs twice in an object")
		}
		if n = n.child(name); n == nil {
			return nil
		}
		if n.kind == kindOther && n.text == "null" {
			return nil
		}
		if n.kind != kindTable {
			return syntaxError(c.src, n.start, quoted(name)+" is not an object")
		}
	}
	count := map[string]int{}
	for _, m := range n.members {
		count[m.name]++
	}
	for _, m := range n.members {
		if c.client.mixed && !m.value.isEntry() {
			if m.name == "servers" {
				if err := c.add(project, append(at[:len(at):len(at)], m.name)); err != nil {
					return err
				}
			}
			continue
		}
		s := readServer(m.value)
		s.Name, s.Project = m.name, project
		s.path = append(append([]string{}, at...), m.name)
		if count[m.name] > 1 {
			s = s.unsupported("the file has more than one server with this name, and clients use only one of them")
			s.Duplicate = true
		}
		c.Servers = append(c.Servers, s)
	}
	return nil
}

// isEntry reports whether a member of a table that also has settings is a server.
func (n *node) isEntry() bool {
	return n.kind == kindTable && slices.ContainsFunc([]string{"type", "command", "url", "enabled"}, func(name string) bool { return n.child(name) != nil })
}

// errNoServers is the error for a file without any of the tables that clients use.
var errNoServers = errors.New("missing key mcpServers, servers, context_servers, mcp_servers, mcp or extensions (hint: name the file in which the client lists its MCP servers)")

// anyClient returns a client whose files have the form of src: JSON, or TOML or YAML if the file has that extension.
func anyClient(name string, src []byte) (Client, error) {
	c := Client{perPath: "projects"}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".toml":
		c.format = formatTOML
	case ".yaml", ".yml":
		c.format = formatYAML
	}
	root, err := c.parse(src)
	if err != nil {
		return c, err
	}
	for _, key := range []string{"mcpServers", "servers", "context_servers", "mcp_servers", "extensions"} {
		if root.child(key) != nil {
			c.servers = []string{key}
			return c, nil
		}
	}
	if table := root.child("mcp"); table != nil && table.kind == kindTable {
		c.servers, c.mixed = []string{"mcp"}, true
		return c, nil
	}
	c.servers = []string{"mcpServers"}
	if projects := root.child(c.perPath); projects != nil {
		for _, project := range projects.members {
			if project.value.child("mcpServers") != nil {
				return c, nil
			}
		}
	}
	return c, errNoServers
}
