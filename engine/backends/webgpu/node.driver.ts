// Whether this machine has a driver that WebGPU could use: asked before Dawn or Chromium look for one themselves.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Whether a GPU can be there at all. Without a Vulkan driver Dawn complains on standard error, and Chromium's GPU process ends
 * and is started again; so ask for a driver's manifest first (search path of the Vulkan loader's documentation).
 */
export function hasGpuDriver(environment: NodeJS.ProcessEnv = process.env): boolean {
  if (process.platform !== 'linux') return true;
  if (environment.VK_DRIVER_FILES || environment.VK_ICD_FILENAMES || environment.VK_ADD_DRIVER_FILES) return true;
  const home = os.homedir();
  const folders = [
    environment.XDG_CONFIG_HOME ?? path.join(home, '.config'),
    environment.XDG_DATA_HOME ?? path.join(home, '.local/share'),
    ...(environment.XDG_CONFIG_DIRS ?? '/etc/xdg').split(':'),
    ...(environment.XDG_DATA_DIRS ?? '/usr/local/share:/usr/share').split(':'),
    '/etc',
  ];
  return folders.some((folder) => {
    const manifests = path.join(folder, 'vulkan/icd.d');
    return fs.existsSync(manifests) && fs.readdirSync(manifests).some((file) => file.endsWith('.json'));
  });
}

/**
 * Whether the system has a GPU at all: a device of the kernel's, of NVIDIA's own driver or of WSL. Without one, Chromium's GPU process fails
 * at its start and is started again to draw in software.
 */
export function hasGpuDevice(devices = '/dev'): boolean {
  if (process.platform !== 'linux') return true;
  const names = (folder: string): readonly string[] => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);
  return (
    names(path.join(devices, 'dri')).some((name) => /^(renderD|card)\d+$/.test(name)) ||
    names(devices).some((name) => /^(nvidia\d+|dxg)$/.test(name))
  );
}
