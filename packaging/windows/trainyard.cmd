@echo off
rem `trainyard COMMAND ...`: the command line of the installed app. The app's own program runs it, without a window or Node. It lies in a
rem folder of its own: beside Trainyard.exe the name alone would open the window. A batch file waits for the program and hands on its code.
"%~dp0..\Trainyard.exe" --command --in-process-gpu --disable-gpu --disable-software-rasterizer --log-level=3 -- %*
exit /b %errorlevel%
