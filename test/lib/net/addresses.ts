// cspell:ignore fdff febf feff
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Addresses that our requests must not reach, the edges of their ranges first and last; and texts that are none. */
export const REFUSED = words(`
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.64.0.1 100.100.100.200
  100.127.255.255 127.0.0.0 127.0.0.1 127.0.1.1 127.1.2.3 127.255.255.255 169.254.0.0 169.254.169.254
  169.254.170.2 169.254.255.255 172.16.0.0 172.17.0.1 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.170
  192.0.0.255 168.63.129.16 ::ffff:168.63.129.16 64:ff9b::168.63.129.16 192.0.2.0 192.0.2.255 192.88.99.0
  192.88.99.1 192.88.99.255 192.168.0.0 192.168.1.1 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0
  198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 224.0.0.1 239.255.255.250 239.255.255.255 240.0.0.0
  250.1.2.3 255.255.255.254 255.255.255.255 :: ::1 ::2 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001
  ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
  ::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::FFFF:192.168.1.1 64:ff9b::127.0.0.1 64:ff9b::7f00:1
  64:ff9b::a00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::1 100:: 100::1 100:0:0:1::1 2001:: 2001::1
  2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8:: 2001:db8::1
  2001:db8:ffff:ffff::1 2002:: 2002:7f00:1:: 2002:7f00:1::1 2002:a00:1::1 2002:c0a8:101::1 2002:808:808::1
  3fff:: 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 8000::1 fc00:: fc00::1 fd00::1 fd00:ec2::254 fdff:ffff::1
  fe00::1 fe80:: fe80::1 fe80::1%eth0 fe80::1%1 febf::1 fec0::1 feff::1 ff00:: ff01::1 ff02::1 ff02::fb
  ff0e::1 ffff::1 2606:4700:4700::1111%eth0 localhost 127.1 127.0.1 0x7f.0.0.1 0177.0.0.1 2130706433 1.2.3.4.5
  256.1.1.1 １２７.0.0.1`);

export const PUBLIC = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 168.63.129.15 168.63.129.17
  126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0
  192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 203.0.112.255
  203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111
  2a00:1450::1`);

/** URLs that hide where they lead, or may not be sent to for another reason. */
export const REFUSED_URLS = words(`
  http://example.com/ https://example.com:8443/ https://example.com:80/ ftp://example.com/ file:///etc/passwd
  gopher://example.com/ javascript:alert(1) https://user@example.com/ https://user:word@example.com/
  https://example.com@127.0.0.1/ https://localhost/ https://LOCALHOST/ https://localhost./
  https://a.localhost/ https://localhost.localdomain/ https://example.com./ https://printer.local/
  https://db.internal/ https://metadata.google.internal/ https://router.lan/ https://nas.home.arpa/
  https://intranet/ https://receiver/ https://a.corp/ https://127.0.0.1/ https://127.1/ https://127.0.1/
  https://2130706433/ https://0x7f000001/ https://0x7f.1/ https://0177.0.0.1/ https://017700000001/
  https://0x7f.0x0.0x0.0x1/ https://0/ https://0.0.0.0/ https://127.0.0.1./ https://①②⑦.⓪.⓪.①/
  https://１２７.０.０.１/ https://127。0。0。1/ https://169.254.169.254/latest/meta-data/ https://[::1]/ https://[::]/
  https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[0:0:0:0:0:ffff:10.0.0.1]/
  https://[64:ff9b::7f00:1]/ https://[2002:7f00:1::]/ https://[fe80::1]/ https://[fe80::1%25eth0]/
  https://[fd00::1]/ https://[ff02::1]/ https://[::127.0.0.1]/ https://%6c%6f%63%61%6c%68%6f%73%74/
  https://ⓛocalhost/ https://10.0.0.1/ https://192.168.1.1/`);
