// The GPU of the tests: SwiftShader through Dawn, so that every machine gives the same answer. In CI it has to be there;
// elsewhere a test that lacks it is skipped, saying what is missing.

import { openGpu, type OpenedGpu } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';

/** Opens a fresh device, or says why there is none. Throws in CI. */
export async function testGpu(): Promise<OpenedGpu | { readonly missing: string }> {
  try {
    return await openGpu(await openNodeGpu({ prefer: 'software' }));
  } catch (error) {
    if (process.env.CI) throw error;
    return { missing: `no GPU for the tests: ${error instanceof Error ? error.message : String(error)}` };
  }
}
