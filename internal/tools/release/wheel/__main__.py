"""`python -m candor_mcp` runs candor."""

from candor_mcp import main

main()
