import * as vscode from 'vscode';
import type {
  ProgressToken, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
} from 'vscode-languageclient/node';
import type { Server } from './server';
import type { Sessions } from './sessions';

type Value = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** What takes no longer is not shown: its notification would come up behind the one that tells of its end. */
const shortTime = 500;

/**
 * Shows what the user started as a notification with a Cancel. Children are in the tree and in the tooltip of the
 * status bar: a dozen notifications would hide the code, and a second item in the bar the position. The tokens of the
 * server are the ids of its runs.
 */
export function showProgress(server: Server, sessions: Sessions): void {
  const shown = new Map<ProgressToken, (value: WorkDoneProgressReport | WorkDoneProgressEnd) => void>();
  const show = (
    token: ProgressToken, first: WorkDoneProgressBegin, last: WorkDoneProgressBegin | WorkDoneProgressReport,
  ) => {
    if ((sessions.run(String(token))?.depth ?? 0) > 0) {
      return;
    }
    const options: vscode.ProgressOptions = {
      location: vscode.ProgressLocation.Notification,
      title: first.title.replace(/[.:]$/, ''), // a colon follows
      cancellable: first.cancellable ?? false,
    };
    void vscode.window.withProgress(options, (progress, cancellation) => {
      cancellation.onCancellationRequested(() => void server.cancelProgress(token));
      return new Promise<void>((resolve) => {
        let percentage = 0;
        const report = (value: WorkDoneProgressBegin | WorkDoneProgressReport) => {
          const increment = Math.max(0, (value.percentage ?? percentage) - percentage);
          percentage += increment;
          progress.report({ increment, ...(value.message === undefined ? {} : { message: value.message }) });
        };
        shown.set(token, (value) => {
          if (value.kind === 'end') {
            shown.delete(token);
            resolve();
          } else {
            report(value);
          }
        });
        report(last);
      });
    });
  };
  const begin = (token: ProgressToken, first: WorkDoneProgressBegin) => {
    let last: WorkDoneProgressBegin | WorkDoneProgressReport = first;
    const timer = setTimeout(() => show(token, first, last), shortTime);
    shown.set(token, (value) => {
      if (value.kind === 'end') {
        clearTimeout(timer);
        shown.delete(token);
      } else {
        last = value;
      }
    });
  };
  server.middleware.handleWorkDoneProgress = (token, value: Value) => {
    if (value.kind === 'begin') {
      begin(token, value);
      void sessions.followOwn();
    } else {
      shown.get(token)?.(value);
    }
  };
  // A server that has gone ends nothing any more.
  server.onDidStop(() => {
    for (const tell of [...shown.values()]) {
      tell({ kind: 'end' });
    }
  });
}
