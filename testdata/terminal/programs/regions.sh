# Margins, origin, tab stops, inserting, saved cursors: what only later output makes visible.
for i in $(seq 14); do printf "\033[$i;1Hline $i"; done
printf '\033[4;9r\033[4;1H\033[32mtop of the region\033[m'
for i in $(seq 12); do printf "\033[9;1H\nscrolled $i"; done
printf '\033[4;1H\033M\033[31mfrom above\033[m\033M'
printf '\033[?6h\033[2;3Horigin\0337\033[5;20Hlater\0338!'
sleep 0.1
printf '\033[2L\033[3;1H\033[M\033[2S\033[T'
printf '\033[?6l\033[r\033[12;1H\033[3g\033[12;6H\033H\033[12;17H\033H\033[12;1H\ta\tb\tc'
sleep 0.1
printf '\033[4h\033[13;3HIN\033[4l\033[2@\033[P'
printf '\033[2;7r\033[?7l\033[14;1H%060d' 7
sleep 0.1
printf '\033[?7h\033[?6h\033[3;5H\033[1;33m\0337\033[m\033(0qqq\033(B\033[6;1H\n\n\n'
sleep 0.1
printf 'wait\0338here\033[?6l\033[r\033[14;1H\033[2J\033[14;50Hz'
sleep 0.1
printf 'wrapped\033[5b\033[3I\033[Z.'
sleep 1
