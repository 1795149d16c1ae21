// Package natscluster starts and stops real nats-server processes for tests.
package natscluster
