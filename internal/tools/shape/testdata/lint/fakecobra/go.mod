module github.com/spf13/cobra
