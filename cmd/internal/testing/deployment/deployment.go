// Package deployment tests the examples in the folder deploy: it starts the servers and commands of the compose file and of the systemd
// units as processes, with their own arguments, and checks the Kubernetes manifests.
package deployment
