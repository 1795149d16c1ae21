package clientconfig

import (
	"errors"
	"path/filepath"
	"strings"
)

// Config is a configuration file that was parsed.
type Config struct {
	Servers []Server

	client Client
	src    []byte
	root   *node
}

// Parse reads the text of a client's file.
func Parse(c Client, src []byte) (*Config, error) {
	root, err := c.parse(src)
	if err != nil {
		return nil, err
	}
	config := &Config{client: c, src: src, root: root}
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
	parse := parseJSONC
	if c.toml {
		parse = parseTOML
	}
	root, err := parse(src)
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
	for _, m := range n.members {
		s := readServer(m.value)
		s.Name, s.Project = m.name, project
		s.path = append(append([]string{}, at...), m.name)
		if n.repeats(m.name) {
			s = s.unsupported("the file has more than one server with this name, and clients use only one of them")
			s.Duplicate = true
		}
		c.Servers = append(c.Servers, s)
	}
	return nil
}

// errNoServers is the error for a file without any of the tables that clients use.
var errNoServers = errors.New("has no key mcpServers, servers, context_servers or mcp_servers (hint: name the file in which the client lists its MCP servers)")

// anyClient returns a client whose files have the form of src: JSON, or TOML if the name of the file says so.
func anyClient(name string, src []byte) (Client, error) {
	c := Client{perPath: "projects", toml: strings.EqualFold(filepath.Ext(name), ".toml")}
	root, err := c.parse(src)
	if err != nil {
		return c, err
	}
	for _, n := range []*node{root, root.child("mcp")} {
		for _, key := range []string{"mcpServers", "servers", "context_servers", "mcp_servers"} {
			if n.child(key) == nil {
				continue
			}
			c.servers = []string{key}
			if n != root {
				c.servers = []string{"mcp", key}
			}
			return c, nil
		}
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
