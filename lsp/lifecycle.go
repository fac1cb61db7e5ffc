package lsp

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
)

// initialized opens the engine while the connection works on.
func (c *connected) initialized() error {
	if wrong := c.client.Misannounced(); wrong != nil {
		c.logger.Warn("the editor is taken for one that does not speak the custom methods", "error", wrong)
		c.goes(func(ctx context.Context) { c.log(ctx, protocol.MessageTypeWarning, "agentls: "+wrong.Error()) })
	}
	c.goes(func(ctx context.Context) {
		c.warn(ctx, "the editor does not tell of changed settings", c.client.FollowSettings(ctx))
	})
	c.goes(c.begin)
	return nil
}

// begin tries to open the engine until that succeeds.
func (c *connected) begin(ctx context.Context) {
	c.tryOpen(ctx, c.opening.first)
	c.goes(c.status.Run)
	again := time.NewTicker(retryInterval)
	defer again.Stop()
	for {
		select {
		case <-c.opening.ready:
			return
		case <-again.C:
			if _, err := c.open(ctx); err != nil {
				c.logger.Debug("the engine was tried again", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// serves starts the parts that work with the engine, which is open now.
func (c *connected) serves(ctx context.Context) {
	c.goes(c.reloader.run) // it first reads what may have changed while the engine was opened
	c.goes(func(ctx context.Context) { c.warn(ctx, "the editor sends no file events", c.client.WatchFiles(ctx)) })
	c.goes(c.authored.register)
	c.goes(c.refresher.Run)
	c.goes(c.board.Run)
	c.settingsChanged()
	c.welcome(ctx)
}

// settingsChanged makes the surfaces read the settings again.
func (c *connected) settingsChanged() {
	c.refresher.SettingsChanged()
	c.board.Wake()
	c.status.Wake()
}

// tried starts the parts that work with the engine, if it is open, and otherwise tells what is in the way.
func (c *connected) tried(ctx context.Context, err error, news bool) {
	c.status.Wake()
	switch {
	case err == nil:
		c.serves(ctx)
	case news && ctx.Err() == nil: // otherwise the editor has gone
		c.tell(ctx, protocol.MessageTypeError, "agentls cannot work: "+c.cannotWork(err).Error())
	}
}

// openEngine reads the settings, opens the engine with what is known of them by then, and starts the readers of its
// events.
func (c *connected) openEngine(ctx context.Context) error {
	c.reloader.settle(ctx)
	loaded, err := c.reloader.load(ctx)
	if err != nil {
		return err
	}
	engine, err := agentcore.Open(ctx, c.reloader.engineOptions(loaded))
	if err != nil {
		return err
	}
	begun := false
	defer func() { // runs also when the reloader panics
		if !begun {
			c.engine = nil
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
			defer cancel()
			if err := engine.Close(closing); err != nil {
				c.logger.Warn("an engine that is not used did not end well", "error", err)
			}
		}
	}()
	c.engine = engine
	if err := c.reloader.begin(ctx); err != nil {
		return err
	}
	begun = true
	events := engine.Subscribe("", 0)
	pump := &pump{
		window: c.window, trace: &c.trace, board: c.board, status: c.status, diagnostics: c.diagnostics,
		refresher: c.refresher, unreviewed: c.unreviewed, asks: c.asks, pages: c.pages, hosts: c.remarks.hosts,
	}
	c.goes(func(ctx context.Context) { pump.run(ctx, events) })
	c.goes(c.diagnostics.Run)
	c.goes(c.asks.run)
	c.goes(c.unreviewed.Run)
	return nil
}

// welcome tells what is wrong with the settings, and brings back the findings and proposals of former sessions.
func (c *connected) welcome(ctx context.Context) {
	defer close(c.answers.recovery.looked)
	restored := sync.OnceFunc(func() { close(c.restored) })
	defer restored() // runs also when a part of it panics, since requests wait for both
	c.tellSettings(ctx)
	if text := c.engine.Repaired(); text != "" {
		c.tell(ctx, protocol.MessageTypeError, text)
	}
	roots := c.folders()
	if err := c.bringBack(ctx, roots); err != nil && ctx.Err() == nil {
		c.tell(ctx, protocol.MessageTypeWarning,
			"agentls could not bring back earlier findings and proposals: "+err.Error())
	}
	restored()
	c.answers.recovery.begin(ctx, roots) // it needs the proposals that were brought back
}

// shutdown answers `shutdown`: it interrupts the runs, and waits until the editor was told of the end of their
// progress.
func (c *connected) shutdown(ctx context.Context) error {
	if !c.ready() {
		return nil // without an engine there is no run
	}
	c.engine.Interrupt()
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	if err := errors.Join(c.board.Drain(ctx), c.board.End(ctx)); err != nil {
		c.logger.Warn("what is shown of runs did not end before the shutdown", "error", err)
	}
	return nil
}

// shutdownTime bounds how long the engine may take to end when the editor has gone.
const shutdownTime = 2 * time.Second

// close ends the engine, and the parts that follow the documents.
func (c *connected) close() error {
	var errs []error
	if c.ready() {
		// even a late end must lose no data
		saving, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		errs = append(errs, c.engine.Close(saving))
	}
	c.board.Close()
	return errors.Join(append(errs, c.view.Close())...)
}
