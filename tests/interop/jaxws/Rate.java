import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.MTOMFeature;
import java.io.InputStream;
import java.net.URL;
import java.util.concurrent.atomic.AtomicLong;
import javax.xml.namespace.QName;

/** How fast JAX-WS reads, or with `write` writes: blocks by MTOM over several threads, what came dropped. Prints bytes a second of its best run. */
public final class Rate {
    private static RandomByteIO port(Service service, String url) {
        RandomByteIO port = service.getPort(new QName(Names.RANDOM, "RandomByteIOPort"), RandomByteIO.class, new MTOMFeature());
        ((BindingProvider) port).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url);
        return port;
    }

    private static long read(RandomByteIO port, long offset, int size, byte[] piece) throws Exception {
        Transfer answer = port.read(offset, size, 1, 0, Bytes.transfer("mtom", null));
        long total = 0;
        try (InputStream in = ((Data) answer.any.get(0)).bytes.getInputStream()) {
            int count;
            while ((count = in.read(piece)) > 0) {
                total += count;
            }
        }
        return total;
    }

    private static long write(RandomByteIO port, long offset, byte[] block) {
        port.write(offset, block.length, 0, Bytes.transfer("mtom", block));
        return block.length;
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        int threads = Integer.parseInt(arguments[1]);
        int block = Integer.parseInt(arguments[2]);
        long size = Long.parseLong(arguments[3]);
        byte[] sent = arguments.length > 5 && arguments[5].equals("write") ? new byte[block] : null;
        Service service = Service.create(new URL(url + "?wsdl"), new QName(Names.RANDOM, "RandomByteIOService"));
        RandomByteIO[] ports = new RandomByteIO[threads];
        for (int at = 0; at < threads; at++) {
            ports[at] = port(service, url);
        }
        double best = 0;
        for (int run = 0; run < Integer.parseInt(arguments[4]); run++) {
            AtomicLong next = new AtomicLong();
            AtomicLong total = new AtomicLong();
            Thread[] readers = new Thread[threads];
            long began = System.nanoTime();
            for (int at = 0; at < threads; at++) {
                RandomByteIO port = ports[at];
                readers[at] = new Thread(() -> {
                    byte[] piece = new byte[1 << 16];
                    try {
                        for (long offset; (offset = next.getAndAdd(block)) < size;) {
                            total.addAndGet(sent == null ? read(port, offset, block, piece) : write(port, offset, sent));
                        }
                    } catch (Exception error) {
                        error.printStackTrace();
                    }
                });
                readers[at].start();
            }
            for (Thread reader : readers) {
                reader.join();
            }
            if (total.get() != size) {
                throw new IllegalStateException(total.get() + " of " + size + " bytes");
            }
            best = Math.max(best, size / ((System.nanoTime() - began) / 1e9));
        }
        System.out.println(best);
        System.exit(0);
    }
}
