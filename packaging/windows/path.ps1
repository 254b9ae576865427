# path.ps1 show|add|remove: whether the folder of this file is in the PATH of this account (the registry, not this process), and its
# entering and leaving. The installer and Settings call it. What stands in PATH stays as it was written, variables included.
param([ValidateSet('show', 'add', 'remove')][string]$what = 'show')
$ErrorActionPreference = 'Stop'
$folder = $PSScriptRoot
$key = [Microsoft.Win32.Registry]::CurrentUser.CreateSubKey('Environment')
$before = [string]$key.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
$entries = @($before.Split(';') | Where-Object { $_ -ne '' })
$others = @($entries | Where-Object { [Environment]::ExpandEnvironmentVariables($_).TrimEnd('\') -ne $folder })
if ($what -eq 'show') {
  if ($others.Count -lt $entries.Count) { 'yes' } else { 'no' }
  exit 0
}
$after = if ($what -eq 'add') { $others + $folder } else { $others }
$key.SetValue('Path', ($after -join ';'), [Microsoft.Win32.RegistryValueKind]::ExpandString)
# Setting a variable this way tells other programs that PATH is another one; it is gone again at once.
[Environment]::SetEnvironmentVariable('TRAINYARD_PATH_CHANGED', '1', 'User')
[Environment]::SetEnvironmentVariable('TRAINYARD_PATH_CHANGED', $null, 'User')
