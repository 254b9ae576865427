// The GPU of the tests: SwiftShader through Dawn, so that every machine gives the same answer. In CI it has to be there;
// elsewhere a test that lacks it is skipped, saying what is missing.

import { openGpu, type OpenedGpu } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';

/** Opens a fresh device. */
export const testGpu = async (): Promise<OpenedGpu> => openGpu(await openNodeGpu({ prefer: 'software' }));

/** False, or why tests that need a GPU are skipped. Throws in CI, where there is always one. */
export async function missingGpu(): Promise<false | string> {
  try {
    (await testGpu()).device.destroy();
    return false;
  } catch (error) {
    if (process.env.CI) throw error;
    const { message, hint } = error as { message?: string; hint?: string };
    return `no GPU for the tests: ${message} ${hint ?? ''}`;
  }
}
