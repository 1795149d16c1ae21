package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
)

// repoAnswer is a repository in GitHub's format.
type repoAnswer struct {
	FullName      string   `json:"full_name"`
	Description   string   `json:"description"`
	HTMLURL       string   `json:"html_url"`
	DefaultBranch string   `json:"default_branch"`
	Language      string   `json:"language"`
	Topics        []string `json:"topics"`
	Stars         int      `json:"stargazers_count"`
	Forks         int      `json:"forks_count"`
	OpenIssues    int      `json:"open_issues_count"`
	Archived      bool     `json:"archived"`
	Private       bool     `json:"private"`
	PushedAt      string   `json:"pushed_at"`
	License       struct {
		SPDX string `json:"spdx_id"`
	} `json:"license"`
}

type repoResult struct {
	Name          string   `json:"name"`
	Description   string   `json:"description,omitempty"`
	URL           string   `json:"url"`
	DefaultBranch string   `json:"defaultBranch,omitempty"`
	Language      string   `json:"language,omitempty"`
	License       string   `json:"license,omitempty"`
	Topics        []string `json:"topics,omitempty"`
	Stars         int      `json:"stars"`
	Forks         int      `json:"forks"`
	OpenIssues    int      `json:"openIssues"`
	Archived      bool     `json:"archived,omitempty"`
	Private       bool     `json:"private,omitempty"`
	PushedAt      string   `json:"pushedAt,omitempty"`
}

func (a *repoAnswer) result() repoResult {
	return repoResult{
		Name: a.FullName, Description: a.Description, URL: a.HTMLURL, DefaultBranch: a.DefaultBranch, Language: a.Language, Topics: a.Topics,
		Stars: a.Stars, Forks: a.Forks, OpenIssues: a.OpenIssues, Archived: a.Archived, Private: a.Private, PushedAt: a.PushedAt,
		License: a.License.SPDX,
	}
}

func (g *github) repo(ctx context.Context, in repository) (any, error) {
	path, err := g.path(in)
	if err != nil {
		return nil, err
	}
	var answer repoAnswer
	if _, err := g.Call(ctx, httpapi.Request{Path: path}, &answer); err != nil {
		return nil, err
	}
	if answer.FullName == "" {
		return nil, g.Malformed("repository")
	}
	return answer.result(), nil
}

// issueAnswer is an issue in GitHub's format. Pull requests are issues too.
type issueAnswer struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	State  string `json:"state"`
	URL    string `json:"html_url"`
	Body   string `json:"body"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	Comments    int             `json:"comments"`
	CreatedAt   string          `json:"created_at"`
	UpdatedAt   string          `json:"updated_at"`
	PullRequest json.RawMessage `json:"pull_request"`
}

type issueResult struct {
	Number      int      `json:"number"`
	Title       string   `json:"title"`
	State       string   `json:"state"`
	URL         string   `json:"url"`
	Author      string   `json:"author,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Comments    int      `json:"comments"`
	CreatedAt   string   `json:"createdAt,omitempty"`
	UpdatedAt   string   `json:"updatedAt,omitempty"`
	PullRequest bool     `json:"pullRequest,omitempty"`
	Body        string   `json:"body,omitempty"`
}

func (a *issueAnswer) result(body bool) issueResult {
	r := issueResult{
		Number: a.Number, Title: a.Title, State: a.State, URL: a.URL, Comments: a.Comments, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		Author: a.User.Login, PullRequest: len(a.PullRequest) > 0 && string(a.PullRequest) != "null",
	}
	for _, l := range a.Labels {
		r.Labels = append(r.Labels, l.Name)
	}
	if body {
		r.Body = a.Body
	}
	return r
}

type issuesParams struct {
	repository
	State  string   `json:"state"`
	Labels []string `json:"labels"`
	pages
}

type issuesResult struct {
	Issues   []issueResult `json:"issues"`
	NextPage int           `json:"nextPage,omitempty"`
}

func (g *github) issues(ctx context.Context, in issuesParams) (any, error) {
	path, err := g.path(in.repository, "issues")
	if err != nil {
		return nil, err
	}
	query := in.query()
	if in.State != "" {
		query.Set("state", in.State)
	}
	if len(in.Labels) > 0 {
		query.Set("labels", strings.Join(in.Labels, ","))
	}
	var answer []issueAnswer
	header, err := g.Call(ctx, httpapi.Request{Path: path, Query: query}, &answer)
	if err != nil {
		return nil, err
	}
	result := issuesResult{Issues: []issueResult{}, NextPage: nextPage(header)}
	for i := range answer {
		result.Issues = append(result.Issues, answer[i].result(false))
	}
	return result, nil
}

type issueParams struct {
	repository
	Number int `json:"number"`
}

func (g *github) issue(ctx context.Context, in issueParams) (any, error) {
	path, err := g.path(in.repository, "issues", strconv.Itoa(in.Number))
	if err != nil {
		return nil, err
	}
	var answer issueAnswer
	if _, err := g.Call(ctx, httpapi.Request{Path: path}, &answer); err != nil {
		return nil, err
	}
	if answer.Number == 0 {
		return nil, g.Malformed("issue")
	}
	return answer.result(true), nil
}

type fileParams struct {
	repository
	Path string `json:"path"`
	Ref  string `json:"ref"`
}

// content is a file or a directory entry in GitHub's format.
type content struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Path     string `json:"path"`
	Size     int64  `json:"size"`
	SHA      string `json:"sha"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

type fileResult struct {
	Path    string `json:"path"`
	SHA     string `json:"sha"`
	Size    int64  `json:"size"`
	Content string `json:"content"`
}

type folderEntry struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Path string `json:"path"`
	Size int64  `json:"size,omitempty"`
}

type folderResult struct {
	Entries []folderEntry `json:"entries"`
}

func (g *github) file(ctx context.Context, in fileParams) (any, error) {
	elements := []string{"contents"}
	if in.Path != "" {
		for part := range strings.SplitSeq(strings.Trim(in.Path, "/"), "/") {
			if part == "" || part == "." || part == ".." {
				return nil, g.Invalid("path has an element that is empty or dots")
			}
			elements = append(elements, part)
		}
	}
	path, err := g.path(in.repository, elements...)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if in.Ref != "" {
		query.Set("ref", in.Ref)
	}
	var raw json.RawMessage
	if _, err := g.Call(ctx, httpapi.Request{Path: path, Query: query}, &raw); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return g.folder(raw)
	}
	return g.text(raw)
}

func (g *github) folder(raw json.RawMessage) (any, error) {
	var answer []content
	if json.Unmarshal(raw, &answer) != nil {
		return nil, g.Malformed("readable entries")
	}
	result := folderResult{Entries: []folderEntry{}}
	for _, e := range answer {
		result.Entries = append(result.Entries, folderEntry{e.Type, e.Name, e.Path, e.Size})
	}
	return result, nil
}

// text returns a file. GitHub omits the content of files above 1 MiB.
func (g *github) text(raw json.RawMessage) (any, error) {
	var answer content
	if json.Unmarshal(raw, &answer) != nil || answer.Type == "" {
		return nil, g.Malformed("file")
	}
	switch {
	case answer.Type != "file":
		return nil, domain.Fail(common.Unsupported, "the path is a "+answer.Type+", not a file or folder", nil)
	case answer.Encoding == "none":
		return nil, domain.Fail(common.LimitExceeded, fmt.Sprintf("the file has %d bytes, more than GitHub returns", answer.Size), nil)
	case answer.Encoding != "base64":
		return nil, g.Malformed("readable content")
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(answer.Content, "\n", ""))
	if err != nil {
		return nil, g.Malformed("readable content")
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, domain.Fail(common.Unsupported, fmt.Sprintf("the file is not text; it has %d bytes", answer.Size), nil)
	}
	return fileResult{answer.Path, answer.SHA, answer.Size, string(text)}, nil
}
