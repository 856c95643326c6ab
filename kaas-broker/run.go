package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// drainTimeout bounds how long Run waits, once its context has ended, for requests under way and for the handover of partitions.
// What is not handed over by then is taken over by the next start, as after a crash.
const drainTimeout = 25 * time.Second

// Run serves until ctx ends, then drains: requests under way are answered, partitions are handed over so that the next start has nothing to scan. It
// returns nil after a drain, ErrFenced when another process took over, else why the broker could not go on. Everything is closed when it returns.
func (b *Broker) Run(ctx context.Context) error {
	// The tasks outlive ctx: draining needs them.
	serving, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var work sync.WaitGroup
	for name, task := range b.tasks() {
		work.Go(func() {
			if err := task(serving); err != nil {
				stop(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	endGroups := b.startGroups(serving)
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-b.fenced:
	case <-serving.Done():
		failure = context.Cause(serving)
	}
	if failure == nil {
		failure = b.drain(ctx, endGroups)
	}
	select {
	case fenced := <-b.fenced: // while draining
		failure = errors.Join(failure, fenced)
	default:
	}
	stop(failure)
	endGroups()
	closed := b.server.Close()
	work.Wait()
	return errors.Join(failure, closed, b.Close())
}

// tasks are the broker's background work; each runs until its context ends, the listeners until the server is shut down.
func (b *Broker) tasks() map[string]func(context.Context) error {
	tasks := map[string]func(context.Context) error{
		"partitions": b.partitions.Run,
		"topics":     b.topics.Run,
		"listeners":  b.server.Serve,
	}
	if b.health != nil {
		tasks["health"] = b.health.Run
	}
	if b.config.Mode == config.ModeSingle {
		tasks["cluster directory"] = b.watchCluster
	}
	return tasks
}

// watchCluster ends the broker when the cluster directory's claim is lost.
func (b *Broker) watchCluster(ctx context.Context) error {
	if err := b.stores.cluster.Watch(ctx); err != nil {
		b.fence(err)
	}
	return nil
}

// drain answers what is under way, then ends the groups and hands the partitions over, those of the coordinator too.
func (b *Broker) drain(ctx context.Context, endGroups func()) error {
	b.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := b.server.Shutdown(ctx); err != nil {
		b.log.Warn().Err(err).Msg("connections were closed before their requests were answered")
	}
	endGroups()
	return b.partitions.Shutdown(ctx)
}
