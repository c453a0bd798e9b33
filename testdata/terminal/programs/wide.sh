# Characters that are not one column each: wide, combining, emoji, and lines that wrap among them.
printf 'ideographs 漢字仮名交じり文 end\n'
printf 'half ｱｲｳ full ＡＢＣ\n'
printf 'marks e\xcc\x81 a\xcc\x8a\xcc\xb2 n\xcc\x83 \xe0\xb8\x81\xe0\xb8\xb3 \xe2\x83\x97\n'
printf 'emoji 😀 👍🏽 🇩🇪 👩‍👩‍👧 ❤️ ☺ ⌚ 🫨 end\n'
printf '%s' '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字'
printf '\nx%s\n' '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字'
printf '\033[31m赤\033[44m青\033[0;7m逆\033[m \033[4m下線\033[m\n'
printf '漢字\b\bx 漢字\b\b\bx 漢\b\033[K|\n'
printf 'overwrite 漢字漢字\r\033[12Cab\n'
# Byte by byte, so that a character comes in several reads.
for byte in '\xf0' '\x9f' '\x98' '\x80' ' ' '\xe6' '\xbc' '\xa2' ' ' 'e' '\xcc' '\x81' '\n'; do
  printf "$byte"
  sleep 0.02
done
printf '\033[1;38Hab漢字'
printf '\033[16;39H漢'
sleep 1
