// The server, which says that it speaks a former version of the protocol.
import { spawn } from 'node:child_process';

const [, , program, ...args] = process.argv;
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
server.stdout.on('data', (piece) => {
  // As long as the present one, so that the header still fits.
  process.stdout.write(
    piece.toString('latin1').replace('"agentls":{"version":"0.1.0"', '"agentls":{"version":"0.0.9"'), 'latin1',
  );
});
server.on('close', (code) => process.exit(code ?? 1));
