// Package pipeline maps channels with several workers.
package pipeline

import (
	"context"
	"sync"
)

// Map calls f for each input, with several workers at a time.
func Map[In, Out any](
	ctx context.Context,
	workers int,
	inputs <-chan In,
	f func(context.Context, In) (Out, error),
) (<-chan Out, func() error) {
	outputs := make(chan Out)
	errs := make(chan error)
	var group sync.WaitGroup
	for n := 0; n < workers; n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for input := range inputs {
				output, err := f(ctx, input)
				if err != nil {
					errs <- err
					return
				}
				outputs <- output
			}
		}()
	}
	go func() {
		group.Wait()
		close(outputs)
		close(errs)
	}()
	return outputs, func() error { return <-errs }
}
