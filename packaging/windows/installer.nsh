; The folder of trainyard.cmd enters the PATH of the account that installs, and leaves it when the app is removed. A newer version that
; takes the place of an older one leaves it as it is: Settings may have taken it out. By PowerShell: NSIS cuts long strings, and with them what else is in PATH.
!macro customInstall
  ${ifNot} ${isUpdated}
    nsExec::Exec 'powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "$INSTDIR\bin\path.ps1" add'
    Pop $0
  ${endIf}
!macroend

!macro customUnInstall
  ${ifNot} ${isUpdated}
    nsExec::Exec 'powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "$INSTDIR\bin\path.ps1" remove'
    Pop $0
  ${endIf}
!macroend
